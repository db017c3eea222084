"""The 5x2 cross-validation tests: against loops and the documented examples of mlxtend."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from tests.oracles import resampling as oracle
from tests.support.resampling import draw, made_up, random_losses
from ucvtest.designs.design import Design

BOTH = pytest.mark.parametrize("cls", [uv.FiveByTwoTTest, uv.FiveByTwoFTest])


@pytest.mark.parametrize("null", [0.0, -0.2])
@pytest.mark.parametrize("n_obs", [40, 41])
def test_statistics_are_those_of_loops(n_obs, null):
    losses = random_losses(draw(uv.FiveByTwoTTest, n_obs))
    p = (losses.means[0] - losses.means[1]).reshape(5, 2) - null
    t, f = oracle.five_by_two(p.tolist())
    result = uv.FiveByTwoTTest.from_losses(losses, null_value=null).fit()
    assert tuple(result) == pytest.approx((t, 2 * stats.t(5).sf(abs(t))))
    assert result.df == 5
    assert result.estimate == pytest.approx(p[0, 0] + null)
    assert result.diagnostics["mean"] == pytest.approx(p.mean() + null)
    result = uv.FiveByTwoFTest.from_losses(losses, null_value=null).fit()
    assert tuple(result) == pytest.approx((f, stats.f(10, 5).sf(f)))
    assert result.estimate == pytest.approx(p.mean() + null)


def splits_of_mlxtend(X, y, seed):
    """The halves that mlxtend draws: one, and then the other, is learnt."""
    rng = np.random.RandomState(seed)
    rows, pairs = np.arange(len(y)), []
    for _ in range(5):
        first, second = train_test_split(rows, test_size=0.5, random_state=rng.randint(0, 32767))
        pairs += [(first, second), (second, first)]
    return Design.from_indices(pairs, len(y))


@pytest.mark.parametrize(
    ("seed", "t", "f"),
    [
        (1, (1.9518001458970664, 0.10841998115271381), (3.5714285714285663, 0.0863145700903196)),
        (2, (0.8032193289024973, 0.45831345008158514), (4.0, 0.06963519939184216)),
    ],
)
def test_values_of_mlxtend(seed, t, f):
    """mlxtend 0.25.0 with scikit-learn 1.9.1 and SciPy 1.17.1, random_seed 1 and 2."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:100, [1, 4, 8]], y[:100]
    learners = [LinearDiscriminantAnalysis(), KNeighborsClassifier(3)]
    losses = uv.evaluate(learners, X, y, splits_of_mlxtend(X, y, seed), rng=0)
    result = uv.FiveByTwoTTest.from_losses(losses).fit()
    assert (-result.statistic, result.pvalue) == pytest.approx(t)
    result = uv.FiveByTwoFTest.from_losses(losses).fit()
    assert tuple(result) == pytest.approx(f)


@BOTH
def test_one_repetition_without_spread_is_no_obstacle(cls):
    design = draw(cls)
    values = np.random.default_rng(0).random((2, 10, 40))
    values[:, :2] = 0.25
    result = cls.from_losses(made_up(design, values, "log")).fit()
    assert result.status == "ok"
    assert result.diagnostics["variances"][0] == 0
