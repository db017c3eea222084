"""What rules learnt from a sample do on the whole population: their true risk and AUC."""

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata

from studies.calibration.problem import Problem
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.base import Learner

CELLS = 1_000_000
"""Predictions that are in memory at a time."""

NEIGHBOURS = 64
"""Nearest observations looked at before all are, to find the nearest in each learning set."""


class PopulationRules:
    """Rules of one learner, learnt on subsets of one sample, judged on the rest of the population.

    Parameters
    ----------
    problem : Problem
    learner : Learner
    members : ndarray of int, shape (n,)
        Which observations of the population are the sample.
    """

    def __init__(self, problem: Problem, learner: Learner, members: np.ndarray) -> None:
        self._problem = problem
        self._learner = learner
        self._members = members
        self._classes = problem.sample.n_classes
        # Of a learner on some columns, that of the learner inside.
        self._cut = getattr(getattr(learner, "inner", learner), "cut", None)

    def risks(self, learning: np.ndarray) -> np.ndarray:
        """Mean loss of each rule over the population without its learning set, (R,)."""
        loss = self._problem.loss_object
        return self._judged(learning, loss.output, self._mean_loss)

    def aucs(self, learning: np.ndarray) -> np.ndarray:
        """AUC of each rule over the population without its learning set, (R,)."""
        return self._judged(learning, "score", self._auc)

    def _judged(self, learning, output, judge):
        step = max(1, CELLS // self._problem.n_population)
        found = []
        for start in range(0, len(learning), step):
            part = learning[start : start + step]
            found.append(judge(self._predictions(part, output), part))
        return np.concatenate(found)

    def _mean_loss(self, predictions: np.ndarray, learning: np.ndarray) -> np.ndarray:
        target = self._problem.sample.target
        if predictions.dtype == bool:
            losses = predictions != (target == 1)  # zero-one, many times faster than as floats
        else:
            losses = self._problem.loss_object.function(target, predictions)
        learnt = np.where(learning, losses[:, self._members], 0.0).sum(axis=1)
        return (losses.sum(axis=1) - learnt) / (len(target) - learning.sum(axis=1))

    def _auc(self, scores: np.ndarray, learning: np.ndarray) -> np.ndarray:
        target = self._problem.sample.target
        found = []
        for row, learnt in zip(scores, learning, strict=True):
            rest = np.ones(len(target), dtype=bool)
            rest[self._members[learnt]] = False
            ranks, positive = rankdata(row[rest]), target[rest] == 1
            n1 = positive.sum()
            pairs = ranks[positive].sum() - n1 * (n1 + 1) / 2
            found.append(pairs / (n1 * (rest.sum() - n1)))
        return np.array(found)

    def _predictions(self, learning: np.ndarray, output: str) -> np.ndarray:
        """Of every rule for everybody, (R, N)."""
        name = self._learner.name
        if self._learner.backend != "jax":
            return self._by_fitting(learning, output)
        if name.startswith("knn"):
            return self._by_neighbours(learning, output)
        scores = self._by_probes(learning, squares=name.startswith("gaussian_nb"))
        if output == "label":
            return scores > self._cut
        return expit(scores) if output == "probability" else scores

    def _by_fitting(self, learning: np.ndarray, output: str) -> np.ndarray:
        """Any learner at all: the population is tested next to the sample."""
        n = len(self._members)
        sample = self._sample_with(self._problem.features)
        beside = np.zeros((len(learning), self._problem.n_population), dtype=bool)
        evaluator = Evaluator(sample, self._learner, output)
        found = evaluator.predict(
            np.hstack([learning, beside]),
            np.hstack([np.zeros_like(learning), ~beside]),
            np.zeros(len(learning), dtype=int),
        )
        return found.values[:, n:]

    def _by_probes(self, learning: np.ndarray, *, squares: bool) -> np.ndarray:
        """Scores that are linear in x, or in x and its squares, are known from a few points."""
        X = self._problem.features
        centre, spread = X.mean(axis=0), X.std(axis=0)
        steps = np.diag(spread)
        probes = np.vstack(
            [np.zeros_like(centre), steps, -steps] if squares else [centre * 0, steps]
        )
        n, p = len(self._members), X.shape[1]
        sample = self._sample_with(probes + centre)
        masks = np.hstack([learning, np.zeros((len(learning), len(probes)), dtype=bool)])
        output = "score" if self._classes else "number"
        evaluator = Evaluator(sample, self._learner, output)
        found = evaluator.predict_all(masks, ~masks, np.zeros(len(masks), dtype=int)).values[:, n:]
        at_centre, up = found[:, :1], found[:, 1 : p + 1]
        Z = (X - centre) / spread
        if squares:
            down = found[:, p + 1 :]
            linear, quadratic = (up - down) / 2, (up + down) / 2 - at_centre
            scores = at_centre + linear @ Z.T + quadratic @ (Z**2).T
        else:
            scores = at_centre + (up - at_centre) @ Z.T
        if self._classes:
            labels = self._problem.sample.target[self._members]
            n_positive = (learning * labels).sum(axis=1)
            # A learning set with one class is not fitted: the rule predicts that class.
            scores[n_positive == 0] = self._cut - 1
            scores[n_positive == learning.sum(axis=1)] = self._cut + 1
        return scores

    def _by_neighbours(self, learning: np.ndarray, output: str) -> np.ndarray:
        X, k = self._problem.features, self._learner.k
        sample, labels = X[self._members], self._problem.sample.target[self._members]
        distances = (X**2).sum(axis=1)[:, None] - 2 * X @ sample.T + (sample**2).sum(axis=1)
        count = min(NEIGHBOURS, len(sample))
        nearest = np.argpartition(distances, count - 1, axis=1)[:, :count]
        order = np.take_along_axis(distances, nearest, axis=1).argsort(axis=1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        found = np.empty((len(learning), len(X)))
        for row, mask in enumerate(learning):
            found[row] = _share_of_votes(nearest, mask, labels, k)
        return found > 0.5 if output == "label" else found

    def _sample_with(self, beside: np.ndarray):
        """The sample, and points whose response does not matter."""
        labels = self._problem.response
        X = np.vstack([self._problem.features[self._members], beside])
        filling = np.resize(np.unique(labels)[:2], len(beside))
        y = np.concatenate([labels[self._members], filling])
        return make_sample(X, y, as_classes=bool(self._classes))


def _share_of_votes(nearest, mask, labels, k):
    learnt = mask[nearest]
    counted = learnt & (learnt.cumsum(axis=1) <= k)
    if (counted.sum(axis=1) < min(k, mask.sum())).any():
        raise ValueError(f"raise NEIGHBOURS: {k} nearest neighbours are not among the nearest kept")
    return (labels[nearest] * counted).sum(axis=1) / counted.sum(axis=1)


def population_rules(problem: Problem, members: np.ndarray) -> tuple[PopulationRules, ...]:
    """For both learners of a problem."""
    first, second = problem.fitted
    return PopulationRules(problem, first, members), PopulationRules(problem, second, members)
