"""What every jitted learner promises: they are found by their short names."""

from typing import Any

import jax
import numpy as np
import pytest

from tests.support.cells import all_of_them
from tests.support.samples import (
    breast_cancer,
    diabetes,
    evaluate,
    iris,
    learning_sets,
    patients,
)
from ucvtest.data.sample import make_sample
from ucvtest.learners.adapters.coerce import SHORT_NAMES, as_learner
from ucvtest.learners.base import JittedLearner

ARGUMENTS = {
    "elastic_net": ":0.05,0.5",
    "kernel_ridge": ":1.0,rbf",
    "knn": ":3",
    "lasso": ":0.05",
    "logistic": ":0.1",
    "polynomial": ":1",
    "ridge": ":1.0",
}

LEARNERS = [name + ARGUMENTS.get(name, "") for name in SHORT_NAMES]

each_learner = pytest.mark.parametrize("text", LEARNERS)

OUTPUTS = ("label", "number", "probability", "score", "risk", "event_probability")


def admitted(text: str, sample: Any, output: Any) -> bool:
    try:
        as_learner(text).check(sample, output, sample.n_obs // 2)
    except ValueError:
        return False
    return True


def response_of(sample: Any, rows: Any) -> Any:
    """The response of some rows, as it is passed."""
    times = sample.survival_times
    return sample.response[rows] if times is None else times.take(rows)


def sample_for(text: str) -> tuple[Any, Any]:
    """A sample that the learner can learn from, and an output that it has."""
    n_columns = 1 if text.startswith("polynomial") else 5
    for sample in (breast_cancer(60, n_columns), diabetes(60), patients(60)):
        for output in OUTPUTS:
            if admitted(text, sample, output):
                return sample, output
    raise AssertionError(f"{text} learns nothing")


@each_learner
def test_its_name_makes_it_again(text):
    learner = as_learner(text)
    assert isinstance(learner, JittedLearner)
    assert as_learner(learner.name).name == learner.name
    assert learner.backend == "jax"


@each_learner
def test_the_order_of_rows_does_not_matter(text):
    sample, output = sample_for(text)
    order = np.random.default_rng(2).permutation(sample.n_obs)
    turned = make_sample(
        sample.features[order], response_of(sample, order), as_classes=sample.classes is not None
    )
    learning = learning_sets(sample, 30, 7)
    found = evaluate(sample, text, output, learning).values
    other = evaluate(turned, text, output, learning[:, order]).values
    np.testing.assert_allclose(other, found[:, order], rtol=1e-6, atol=1e-8)


@each_learner
def test_what_it_cannot_learn_is_refused_by_name(text):
    learner, refusals = as_learner(text), []
    for sample in (breast_cancer(60, 1), iris(), diabetes(60), patients(60)):
        for output in OUTPUTS:
            try:
                learner.check(sample, output, 30)
            except ValueError as error:
                refusals.append(str(error))
    assert all(learner.name.split(":")[0] in refusal for refusal in refusals)


@pytest.mark.parametrize("text", [text for text in LEARNERS if text != "majority"])
def test_it_fits_nothing_to_missing_values(text):
    sample, output = sample_for(text)
    features = np.array(sample.features)
    features[3, 0] = np.nan
    every = np.arange(sample.n_obs)
    as_classes = sample.classes is not None
    holey = make_sample(features, response_of(sample, every), as_classes=as_classes)
    with pytest.raises(ValueError, match=r"X contains nan at row 3, column 0"):
        evaluate(holey, text, output, learning_sets(holey, 30, 2))


@each_learner
def test_it_is_deterministic_and_knows_neither_batches_nor_the_flag_for_float64(text):
    sample, output = sample_for(text)
    learning = learning_sets(sample, 30, 7)
    together = evaluate(sample, text, output, learning).values
    assert together.dtype == np.float64
    assert (np.isnan(together) == learning).all()
    np.testing.assert_array_equal(evaluate(sample, text, output, learning).values, together)
    one_by_one = [evaluate(sample, text, output, row[None]).values[0] for row in learning]
    np.testing.assert_array_equal(one_by_one, together)
    if all_of_them() or text in ("lda", "qda", "knn:3", "ridge:1.0"):
        with jax.enable_x64(True):
            on = evaluate(sample, text, output, learning).values
        np.testing.assert_array_equal(on, together)
