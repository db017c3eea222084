"""A few hundred random questions end in an answer without a fault, or in our own words."""

import pytest

from tests.nightly.promises.random_questions import faulty


@pytest.mark.parametrize("seed", range(2))
def test_questions_about_metrics_weights_and_folds_have_no_faults(seed: int) -> None:
    assert list(faulty(300, seed)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_questions_have_no_faults_in_the_long_run() -> None:
    assert list(faulty(10_000, seed=99)) == []
