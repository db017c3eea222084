"""One learner on a page: what the runner adds to the fit of one learning set."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np
import pytest

from tests.support.samples import breast_cancer, evaluate, iris, learning_sets
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.base import Scale
from ucvtest.learners.batching import padded_size
from ucvtest.learners.runner import Data, MappedLearner
from ucvtest.learners.solvers.linear_algebra import inverted, solved


@dataclass(frozen=True)
class ShrunkenMeans(MappedLearner):
    """Nearest class mean, the means shrunken towards the mean of all by a share."""

    share_lost: float = 0.0

    scale: ClassVar[Scale] = "discriminant"
    multiclass: ClassVar[bool] = True
    indicators: ClassVar[bool] = True
    numbers: ClassVar[tuple[str, ...]] = ("share_lost",)

    @property
    def name(self) -> str:
        """The settings are part of it."""
        return f"shrunken_means:{self.share_lost}"

    def share(self, sample):
        """What all fits share."""
        return Data(sample.matrix, sample.target)

    def fit(self, data, w):
        """Scores of all observations by the rule learnt from those with weight one."""
        members = w[:, None] * data.y
        overall = w @ data.x / w.sum()
        means = (members.T @ data.x) / members.sum(axis=0)[:, None]
        means = overall + (1.0 - self.share_lost) * (means - overall)
        distances = ((data.x[:, None] - means) ** 2).sum(axis=2)
        return distances[:, 0] - distances[:, 1] if len(means) == 2 else -distances


def one_by_one(sample, learning, labels, share_lost):
    """The same in plain NumPy."""
    codes = np.arange(int(sample.target.max()) + 1)
    scores = []
    for rows, own in zip(learning, labels, strict=True):
        overall = sample.matrix[rows].mean(axis=0)
        means = [sample.matrix[rows & (own == code)].mean(axis=0) for code in codes]
        means = [overall + (1 - share_lost) * (mean - overall) for mean in means]
        distances = [((sample.matrix - mean) ** 2).sum(axis=1) for mean in means]
        two = len(codes) == 2
        scores.append(distances[0] - distances[1] if two else -np.stack(distances, axis=1))
    return np.array(scores)


@pytest.mark.parametrize("make", [breast_cancer, iris])
def test_scores_and_labels_of_many_learning_sets(make):
    sample, learner = make(), ShrunkenMeans(0.3)
    learning = learning_sets(sample, 60, 200)
    labels = np.tile(sample.target, (200, 1))
    expected = one_by_one(sample, learning, labels, 0.3)
    found = learner.scores(learner.prepare(sample), learning)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    wanted = expected > 0 if expected.ndim == 2 else expected.argmax(axis=2)
    predicted = evaluate(sample, learner, "label", learning).values
    np.testing.assert_array_equal(predicted[~learning], wanted[~learning])


@pytest.mark.parametrize("n_sets", [1, 40])
def test_labels_of_their_own(n_sets):
    sample, learner = breast_cancer(), ShrunkenMeans(0.3)
    labels = np.random.default_rng(0).permuted(np.tile(sample.target, (40, 1)), axis=1)
    learning = learning_sets(sample, 60, n_sets)
    evaluator = Evaluator(sample, learner, "score")
    found = evaluator.predict_labelings(labels, np.arange(40), learning).values
    expected = one_by_one(sample, np.broadcast_to(learning, labels.shape), labels, 0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_other_numbers_need_no_other_program(compiled):
    sample = breast_cancer()
    learning = learning_sets(sample, 60, 7)
    first, second = ShrunkenMeans(0.31), ShrunkenMeans(0.7)
    first.scores(first.prepare(sample), learning)
    compiled.clear()
    found = second.scores(second.prepare(sample), learning)
    assert not compiled
    labels = np.tile(sample.target, (7, 1))
    np.testing.assert_allclose(found, one_by_one(sample, learning, labels, 0.7), rtol=1e-9)


def test_a_label_at_the_cut_or_missing_is_left_to_the_scores():
    sample = breast_cancer()
    learner, learning = ShrunkenMeans(0.3), learning_sets(sample, 60, 5)
    state = learner.prepare(sample)
    assert learner.codes(state, learning) is not None
    assert learner.codes(state, learning, margin=(1e-3, 0.0)) is not None
    largest = float(np.abs(learner.scores(state, learning)).max())
    assert learner.codes(state, learning, margin=(largest, 0.0)) is None
    # All means are the same, and so all scores are zero.
    equal = ShrunkenMeans(1.0)
    assert equal.codes(equal.prepare(sample), learning) is None
    assert evaluate(sample, equal, "label", learning).ties["score_ties"] == (~learning).sum()


@pytest.mark.parametrize(
    ("n_obs", "size"), [(1, 32), (33, 64), (256, 256), (257, 320), (999, 1024)]
)
def test_few_sizes_of_samples_are_compiled(n_obs, size):
    assert padded_size(n_obs) == size


@pytest.mark.parametrize("size", [1, 3, 9, 30])
@pytest.mark.parametrize("filled", [0, 5])
def test_systems_are_solved_side_by_side(rng, size, filled):
    factors = rng.normal(size=(6, 4, size, size + 2))
    matrices = factors @ factors.swapaxes(2, 3)
    matrices[2, 1, :, -1] = matrices[2, 1, -1, :] = 0.0
    right = rng.normal(size=(6, 4, size, 2))
    whole = np.zeros((6, 4, size + filled, size + filled))
    whole[..., :size, :size] = matrices
    whole[..., range(size, size + filled), range(size, size + filled)] = 1.0
    longer = np.pad(right, ((0, 0), (0, 0), (0, filled), (0, 0)))
    with jax.enable_x64(True):
        solve, invert = (jax.jit(jax.vmap(jax.vmap(each))) for each in (solved, inverted))
        found = np.asarray(solve(whole, longer))[:, :, :size]
        inverses, log_determinants = (np.asarray(each) for each in invert(matrices))
    assert np.isnan(found[2, 1]).all()
    assert np.isnan(inverses[2, 1]).all()
    assert np.isnan(log_determinants[2, 1])
    regular = np.ones((6, 4), dtype=bool)
    regular[2, 1] = False
    for row in zip(*np.nonzero(regular), strict=True):
        np.testing.assert_allclose(matrices[row] @ found[row], right[row], atol=1e-7)
        np.testing.assert_allclose(matrices[row] @ inverses[row], np.eye(size), atol=1e-7)
        logarithm = np.linalg.slogdet(matrices[row]).logabsdet
        np.testing.assert_allclose(log_determinants[row], logarithm, rtol=1e-8, atol=1e-8)
