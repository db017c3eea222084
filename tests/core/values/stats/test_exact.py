"""p-values and intervals from counts: by quadrature, by enumeration, by SciPy, and in agreement."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.oracles import resampling_wald as oracle
from tests.support.cells import repeated
from ucvtest.stats.exact import BinomialCounts, PairedCounts

SIDES = ("two-sided", "less", "greater")


def leaves_out(interval, null):
    low, high = interval
    return not low <= null <= high


class TestAgreement:
    @pytest.mark.seconds(4, reason="searches the limits of many tables")
    def test_over_2000_tables(self):
        rng = np.random.default_rng(0)
        for _ in range(repeated(2000)):
            n = int(rng.integers(1, 150))
            first, second, _ = map(int, rng.multinomial(n, rng.dirichlet([1, 1, 2])))
            alpha = rng.uniform(0.001, 0.5)
            null = rng.uniform()
            for counts, value in (
                (PairedCounts(first, second, n), 0),
                (BinomialCounts(first, n), null),
            ):
                for side in SIDES:
                    rejects = counts.pvalue(value, side) <= alpha
                    assert rejects == leaves_out(counts.interval(side, alpha), value), (
                        counts,
                        side,
                    )


class TestPaired:
    @pytest.mark.parametrize(
        ("b", "c", "n"),
        [(8, 17, 100), (17, 8, 100), (30, 5, 60), (1, 2, 9), (9, 1, 400), (12, 3, 16)],
    )
    @pytest.mark.parametrize("alpha", [0.05, 0.3])
    def test_equals_quadrature(self, b, c, n, alpha):
        low, high = PairedCounts(b, c, n).interval("two-sided", alpha)
        for end, first, second in ((low, b, c), (-high, c, b)):
            ends = (end - 1e-8, end + 1e-8)
            below, above = (oracle.melded_below(first, second, n, delta) for delta in ends)
            assert below < alpha / 2 < above

    def test_closed_forms(self):
        # Nothing tells the rules apart: the difference is at most the share of what could.
        end = 1 - 0.025 ** (1 / 30)
        assert PairedCounts(0, 0, 30).interval("two-sided", 0.05) == pytest.approx((-end, end))
        # All observations tell: twice Clopper and Pearson's ends, less one.
        low, high = BinomialCounts(7, 10).interval("two-sided", 0.1)
        found = PairedCounts(7, 3, 10).interval("two-sided", 0.1)
        assert found == pytest.approx((2 * low - 1, 2 * high - 1))

    @pytest.mark.seconds(3, reason="sums over all tables of a size")
    @pytest.mark.parametrize("n", [8, 15])
    def test_covers_at_least_its_level(self, n):
        """By all tables, over a grid of probabilities."""
        tables = [(b, c) for b in range(n + 1) for c in range(n + 1 - b)]
        ends = [PairedCounts(b, c, n).interval("two-sided", 0.1) for b, c in tables]
        low, high = np.array(ends).T
        for share in (0.05, 0.3, 0.6, 0.9, 1.0):
            for theta in (0.02, 0.2, 0.5, 0.65, 0.9, 1.0):
                chances = (share * theta, share * (1 - theta), 1 - share)
                pmf = [stats.multinomial.pmf((b, c, n - b - c), n, chances) for b, c in tables]
                difference = share * (2 * theta - 1)
                covered = (low <= difference + 1e-12) & (difference - 1e-12 <= high)
                assert np.dot(pmf, covered) >= 0.9

    def test_many_observations(self):
        low, high = PairedCounts(40_000, 41_000, 1_000_000).interval("two-sided", 0.05)
        wald = 1.96 * math.sqrt(81_000 - 1) / 1e6
        assert (low, high) == pytest.approx((-0.001 - wald, -0.001 + wald), abs=2e-5)


class TestBinomial:
    @pytest.mark.parametrize("side", SIDES)
    @pytest.mark.parametrize("errors", [0, 3, 20])
    def test_interval_is_that_of_scipy(self, errors, side):
        expected = stats.binomtest(errors, 20, alternative=side).proportion_ci(0.95)
        assert BinomialCounts(errors, 20).interval(side, 0.05) == pytest.approx(tuple(expected))

    @pytest.mark.parametrize("side", ["less", "greater"])
    def test_pvalue_is_that_of_scipy(self, side):
        expected = stats.binomtest(3, 20, 0.4, alternative=side).pvalue
        assert BinomialCounts(3, 20).pvalue(0.4, side) == pytest.approx(expected)
        assert math.isnan(BinomialCounts(3, 20).pvalue(1.2, side))
        assert math.isnan(BinomialCounts(3, 20).pvalue(math.nan, side))
