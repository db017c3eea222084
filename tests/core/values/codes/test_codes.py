"""Bounds and constructions of light codes: integer programming, published numbers, formulas."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

import ucvtest as uv
from studies.reproductions.light_codes import cyclic_code, residue_class_code
from tests.oracles import leave_pair_out as oracle
from ucvtest.codes import linear_programme
from ucvtest.codes.bounds import light_code_bounds, residue_class_sizes, spectral_bound
from ucvtest.codes.critical_values import supremum_critical_value
from ucvtest.codes.linear_programme import delsarte_bound
from ucvtest.codes.null_distributions import wilcoxon_null

SMALL = [(n, w, W) for n in range(2, 7) for w in range(1, n // 2 + 1) for W in range(w * (n - w))]


def check_bracket(n, w, W):
    exact = oracle.largest_light_code(W, n, w)
    lower, upper = light_code_bounds(W, n, w)
    assert lower <= exact <= upper
    assert spectral_bound(W, n, w) >= exact
    assert delsarte_bound(W, n, w) >= exact
    if w <= 2:
        assert lower == upper


class TestBounds:
    @pytest.mark.seconds(5, reason="looks at every code of that length")
    @pytest.mark.parametrize(("n", "w", "W"), [*SMALL, (7, 2, 0), (7, 2, 1), (7, 3, 0)])
    def test_bracket_the_exact_value(self, n, w, W):
        check_bracket(n, w, W)

    @pytest.mark.slow
    @pytest.mark.parametrize(("w", "W"), [(2, 2), (2, 3), (2, 4), (3, 5)])
    def test_bracket_the_exact_value_of_more_words(self, w, W):
        check_bracket(7, w, W)

    @pytest.mark.parametrize(("n", "w"), [(6, 2), (7, 3), (9, 1)])
    def test_classes_can_change_places(self, n, w):
        for W in range(4):
            assert light_code_bounds(W, n, w) == light_code_bounds(W, n, n - w)

    @pytest.mark.parametrize(
        ("W", "n", "w", "most"),
        [
            (0, 30, 15, 9124560),
            (1, 30, 15, 10428068),
            (4, 30, 15, 14338594),
            (7, 30, 15, 18249120),
            (1, 10, 5, 54),
            (2, 10, 5, 72),
            (3, 10, 5, 90),
        ],
    )
    def test_as_sharp_as_promised(self, W, n, w, most):
        bounds = light_code_bounds(W, n, w)
        assert bounds.lower <= bounds.upper <= most
        assert bounds.upper_source
        assert not bounds.exact

    @pytest.mark.parametrize(("n", "w"), [(9, 4), (12, 6), (20, 10), (21, 7), (32, 16), (40, 20)])
    def test_programme_is_never_worse_than_the_spectrum(self, n, w):
        for W in (0, 1, 3, 8):
            # Where the solver's basis cannot be used, its own numbers cost six digits.
            assert delsarte_bound(W, n, w) <= spectral_bound(W, n, w) * (1 + 1e-6)

    @pytest.mark.parametrize(("n", "w", "W"), [(6, 3, 1), (6, 3, 2), (6, 3, 3), (7, 3, 0)])
    def test_whatever_the_solver_says_the_bound_is_valid(self, rng, n, w, W):
        """Random numbers in the place of the dual solution are repaired, and prove less."""
        exact = oracle.largest_light_code(W, n, w)
        scheme = linear_programme._johnson_scheme(n, w)
        for _ in range(50):
            dual = [Fraction(float(value)) for value in 30 * rng.normal(size=w)]
            assert linear_programme._certified(W, scheme, dual) >= exact

    def test_unsolved_programme_is_no_failure(self, monkeypatch):
        class Unsolved:
            status = 4

        monkeypatch.setattr("scipy.optimize.linprog", lambda *args, **kwargs: Unsolved)
        assert linear_programme._delsarte_bound.__wrapped__(1, 8, 4) == 70

    @pytest.mark.parametrize(("n", "w"), [(5, 2), (7, 3), (8, 4)])
    def test_scheme_is_that_of_the_graph(self, n, w):
        """Eigenvalues and multiplicities of the distance matrices, by linear algebra."""
        words = oracle.words(n, w).astype(int)
        distance = w - words @ words.T
        scheme = linear_programme._johnson_scheme(n, w)
        for i in range(w + 1):
            found = np.sort(np.linalg.eigvalsh((distance == i) * 1.0))
            expected = np.repeat(scheme.eigenvalues[i], scheme.multiplicities)
            np.testing.assert_allclose(found, np.sort(expected), atol=1e-9)
            assert (distance[0] == i).sum() == scheme.valencies[i]

    def test_more_errors_are_never_fewer_words(self):
        upper = [light_code_bounds(W, 13, 5).upper for W in range(22)]
        lower = [light_code_bounds(W, 13, 5).lower for W in range(22)]
        assert upper == sorted(upper)
        assert lower == sorted(lower)
        assert upper[-1] == lower[-1] == comb(13, 5)

    @pytest.mark.seconds(5, reason="products beyond 64 bits need long codes")
    def test_integers_of_numpy_do_not_overflow(self):
        """Products beyond 64 bits."""
        sizes = [np.int64(size) for size in (100, 66, 33)]
        expected = comb(66, 33) * (2 * 100 + 33) // (33 * 34)
        assert spectral_bound(*sizes) == expected
        assert light_code_bounds(*sizes) == light_code_bounds(100, 66, 33)
        assert 0 < uv.codes.supremum_pvalue(*sizes) == uv.codes.supremum_pvalue(100, 66, 33) < 1


def group_sum_code(group, n, w):
    """The most w-subsets of an abelian group whose elements have the same sum."""
    elements = list(product(*(range(order) for order in group)))
    index = {element: number for number, element in enumerate(elements)}
    counts = np.zeros((w + 1, len(elements)), dtype=object)
    counts[0, index[(0,) * len(group)]] = 1
    for element in elements[:n]:
        shift = [
            index[tuple((a - b) % order for a, b, order in zip(other, element, group, strict=True))]
            for other in elements
        ]
        counts[1:] = counts[1:] + counts[:-1, shift]
    return max(counts[w])


ROWS = {(int(row["n"]), int(row["w"])): row for row in uv.codes.known_code_sizes()}


class TestKnownSizes:
    """The table of A(n, 4, w) that comes with the package, derived again."""

    def test_every_size_is_there_once(self):
        assert sorted(ROWS) == [(n, w) for n in range(4, 29) for w in range(1, n // 2 + 1)]
        assert len(uv.codes.known_code_sizes()) == len(ROWS)

    @pytest.mark.parametrize(("n", "w"), [key for key in ROWS if key[1] <= 4])
    def test_formulas(self, n, w):
        """Pairs, triples (Spencer 1968), quadruples (Hanani 1960, Brouwer 1978, Ji 2006)."""
        triples = n * ((n - 1) // 2) // 3 - (n % 6 == 5)
        before = (n - 1) * ((n - 2) // 2) // 3 - ((n - 1) % 6 == 5)
        expected = {1: 1, 2: n // 2, 3: triples, 4: n * before // 4}[w]
        assert int(ROWS[n, w]["lower"]) == int(ROWS[n, w]["upper"]) == expected

    @pytest.mark.parametrize(
        ("n", "w"), [key for key, row in ROWS.items() if "group-sum" in row["lower_source"]]
    )
    def test_group_sum_codes(self, n, w):
        """Words of a weight whose positions, as elements of a group, have one sum."""
        source = ROWS[n, w]["lower_source"].removeprefix("group-sum code ")
        group = [int(part[1:]) for part in source.partition(" minus")[0].split("x")]
        assert int(ROWS[n, w]["lower"]) == group_sum_code(group, n, w)

    def test_shortened_steiner_systems(self):
        """Blocks of S(5, 6, 24) and S(4, 5, 23), and those of them that avoid some points."""
        blocks = {(24, 6): comb(24, 5) // comb(6, 5), (23, 5): comb(23, 4) // comb(5, 4)}
        for (n, w), size in list(blocks.items()):
            for m in range(n, 20, -1):
                size = size * (m - w) // m
                blocks[m - 1, w] = size
        for key, size in blocks.items():
            assert int(ROWS[key]["lower"]) == size, key
        assert int(ROWS[12, 6]["upper"]) == comb(12, 5) // comb(6, 5)
        assert int(ROWS[11, 5]["upper"]) == comb(11, 4) // comb(5, 4)

    def test_upper_bounds_follow_from_shorter_codes(self):
        """Johnson's recursion, from the sizes that are known otherwise."""
        for (n, w), row in ROWS.items():
            upper = int(row["upper"])
            assert int(row["lower"]) <= upper
            if w <= 4 or n == 4:
                continue
            fewer = int(ROWS[n - 1, min(w - 1, n - w)]["upper"])
            same = int(ROWS[n - 1, min(w, n - 1 - w)]["upper"])
            recursion = min(n * fewer // w, n * same // (n - w))
            if "recursion" in row["upper_source"]:
                assert upper == recursion, (n, w)
            else:
                assert upper <= recursion, (n, w)

    def test_ours_are_at_least_as_good(self):
        for n, w in ((10, 5), (12, 5), (13, 6), (16, 8), (20, 9)):
            lower, upper = light_code_bounds(0, n, w)
            assert int(ROWS[n, w]["lower"]) <= lower <= upper <= int(ROWS[n, w]["upper"])


class TestConstructions:
    @pytest.mark.parametrize("n", range(3, 11))
    def test_cyclic_codes_are_the_largest(self, n):
        for W in range(n):
            code = cyclic_code(W, n)
            assert len(code) == light_code_bounds(W, n, 2).upper
            assert (code.words.sum(axis=1) == 2).all()

    @pytest.mark.parametrize(("n", "w", "W"), [(8, 4, 0), (8, 4, 1), (8, 3, 2), (12, 5, 3)])
    def test_residue_classes(self, n, w, W):
        code = residue_class_code(W, n, w)
        sizes = residue_class_sizes(n, w, n - 2 * W)
        assert sum(sizes) == comb(n, w)
        assert len(code) == max(sizes) >= comb(n, w) / (n - 2 * W)
        sums = (code.words * np.arange(1, n + 1)).sum(axis=1) % (n - 2 * W)
        assert len(set(sums.tolist())) == 1


# Copied from a published table of two-sided tests at .05 (one-sided at .025), read on
# numeracy-bank.net, "Mann-Whitney U test", step 3: its row for 10, columns 5..20.
TWO_SIDED_10 = [8, 11, 14, 17, 20, 23, 26, 29, 33, 36, 39, 42, 45, 48, 52, 55]


class TestCriticalValues:
    def test_published_table_of_mann_and_whitney(self):
        table = uv.codes.critical_values(0.025, range(5, 21), [10], "wmw")
        assert table.loc[10].tolist() == TWO_SIDED_10

    @pytest.mark.parametrize("n", range(2, 21))
    def test_wmw_equals_scipy(self, n):
        """p-values of every number of errors, balanced or nearly so."""
        n1 = n // 2
        null = wilcoxon_null(n, n1)
        x, y = np.arange(n1) + 0.5, np.arange(n - n1)
        found = stats.mannwhitneyu(x, y, alternative="less", method="exact")
        assert null.pvalue(found.statistic) == pytest.approx(found.pvalue, rel=1e-12)
        for errors in range(0, n1 * (n - n1), 3):
            # Samples with so many errors: move the smallest of x up, step by step.
            ranks = np.array(sorted(_sample_with(errors, n1, n - n1)), dtype=float)
            rest = np.setdiff1d(np.arange(n), ranks)
            exact = stats.mannwhitneyu(ranks, rest, alternative="less", method="exact")
            assert exact.statistic == errors
            assert null.pvalue(errors) == pytest.approx(exact.pvalue, rel=1e-10)

    def test_supremum_for_all_sizes_up_to_20(self):
        table = uv.codes.critical_values(0.05, range(1, 21), range(1, 21))
        # A(n, 4, w) <= C(n, w)/(n - w + 1): no error at all, with 19 of one class or more.
        for n0, n1 in product(range(1, 21), repeat=2):
            assert table.loc[n1, n0] == (0 if max(n0, n1) >= 19 else -1)
        assert table.equals(uv.codes.critical_values(0.05, range(1, 21), range(1, 21)))

    @pytest.mark.parametrize("alpha", [0.1, 0.3, 0.7])
    def test_supremum_is_the_largest_that_rejects(self, alpha):
        largest = uv.codes.critical_values(alpha, 6, 7, "supremum")
        assert largest == supremum_critical_value(alpha, 13, 7)
        pvalues = [uv.codes.supremum_pvalue(W, 13, 6) for W in range(22)]
        assert largest == sum(pvalue <= alpha for pvalue in pvalues) - 1

    def test_adversary_rejects_at_least_what_is_valid(self):
        """The bound of Proposition 4 gives more, so it is no test."""
        for n in (24, 30, 38, 40):
            adversary = uv.codes.critical_values(0.05, n // 2, n // 2, "graham_sloane")
            assert adversary >= uv.codes.critical_values(0.05, n // 2, n // 2, "supremum")
        assert uv.codes.critical_values(0.05, 20, 20, "graham_sloane") == 10
        assert uv.codes.critical_values(0.05, 9, 10, "graham_sloane") == -1

    def test_empirical(self):
        table = uv.codes.critical_values(
            0.05, [1, 8], [8, 9], "empirical", n_simulations=300, rng=1
        )
        again = uv.codes.critical_values(
            0.05, [1, 8], [8, 9], "empirical", n_simulations=300, rng=1
        )
        assert table.equals(again)
        assert table[1].tolist() == [-1, -1]
        # Learners have wider null distributions than a fixed function.
        assert 0 <= table.loc[8, 8] <= uv.codes.critical_values(0.05, 8, 8, "wmw")

    def test_heat_map(self):
        table = uv.codes.critical_values(0.05, range(1, 8), [3, 5], "wmw")
        ax = uv.codes.plot_critical_values(table, Figure().subplots())
        shown = [int(text.get_text()) for text in ax.texts]
        assert shown == [value for value in table.to_numpy().ravel() if value >= 0]
        assert [text.get_text() for text in ax.get_yticklabels()] == ["3", "5"]
        assert uv.codes.plot_critical_values(table).get_xlabel() == "negative observations"
        nothing = uv.codes.critical_values(0.05, [4, 5], [3, 5])
        assert not uv.codes.plot_critical_values(nothing, Figure().subplots()).texts


def _sample_with(errors, n1, n0):
    """Ranks 0..n-1 of n1 numbers that exceed others n0 `errors` times in all."""
    ranks = list(range(n1))
    for position in reversed(range(n1)):
        step = min(errors, n0)
        ranks[position] += step
        errors -= step
    return ranks


def test_all_subsets_agree_with_the_counts():
    sums = [sum(subset) % 5 for subset in combinations(range(1, 8), 3)]
    assert np.bincount(sums, minlength=5).tolist() == residue_class_sizes(7, 3, 5)
