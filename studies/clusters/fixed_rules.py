"""How often do intervals of fixed rules contain the true value for rows in clusters?

Rules are learnt once, from another sample; populations and samples are those of `learners`. Each
test is asked about clusters and about rows (`group_weight`), and as if all rows were independent.
"""

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from studies.clusters.learners import CORRELATIONS, N_CLUSTERS, Data, draw
from studies.coverage import Study, answer

QUESTIONS = (("lda", None), ("knn", None), ("lda", "naive Bayes"), ("knn", "lda"))
LOSSES = {uv.HoldOutTest: "zero_one", uv.McNemarTest: "zero_one", uv.DeLongTest: "auc"}


@cache
def rules_of(correlation: float) -> dict:
    """Three rules, learnt from forty clusters."""
    X, y, _ = draw(np.random.default_rng([int(100 * correlation), 3]), 40, correlation)
    return {
        "lda": LinearDiscriminantAnalysis().fit(X, y),
        "naive Bayes": GaussianNB().fit(X, y),
        "knn": KNeighborsClassifier(5).fit(X, y),
    }


def results(data: Data, correlation: float, *, grouped: bool) -> Iterator[tuple]:
    """Test, question, weight and result of each; without clusters there is nothing to weigh."""
    X, y, index = data
    scores = {name: rule.predict_proba(X)[:, 1] for name, rule in rules_of(correlation).items()}
    labels = {name: (each > 0.5).astype(int) for name, each in scores.items()}
    for test, loss in LOSSES.items():
        predicted, groups = scores if loss == "auc" else labels, index if grouped else None
        losses = uv.Losses.from_predictions(y, predicted, loss=loss, groups=groups)
        questions = [each for each in QUESTIONS if each[1] or test is not uv.McNemarTest]
        for question, weight in product(questions, ("group", "row") if grouped else ("group",)):
            words = " - ".join(filter(None, question))
            result = test.from_losses(losses, *question, group_weight=weight).fit()
            yield (test.method_name, words, weight), result


@cache
def truth(correlation: float) -> dict[tuple, float]:
    """What 4000 clusters say."""
    population = draw(np.random.default_rng([int(100 * correlation), 4]), 4000, correlation)
    found = results(population, correlation, grouped=True)
    return {key: result.estimate for key, result in found}


def sample(clusters: int, correlation: float, number: int) -> Iterator[tuple]:
    """The answers of all tests about one sample."""
    rng = np.random.default_rng([clusters, int(100 * correlation), 2, number])
    data = draw(rng, clusters, correlation)
    for grouped in (True, False):
        for key, result in results(data, correlation, grouped=grouped):
            yield *key, grouped, *answer(truth(correlation)[key], result)


LABELS = ("test", "learners", "weight", "grouped")
STUDY = Study(sample, LABELS, product(N_CLUSTERS, CORRELATIONS), 300)

if __name__ == "__main__":
    STUDY.main()
