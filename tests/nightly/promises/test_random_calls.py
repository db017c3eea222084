"""A few hundred random calls end in an answer without a fault, or in the package's own words."""

import pytest

from tests.nightly.promises.random_calls import foreign
from tests.nightly.promises.random_questions import faulty


@pytest.mark.parametrize("part", range(3))
def test_no_foreign_exceptions(part: int) -> None:
    assert list(foreign(100, seed=part)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_no_foreign_exceptions_in_the_long_run() -> None:
    assert list(foreign(20_000, seed=99)) == []


@pytest.mark.parametrize("seed", range(2))
def test_questions_about_metrics_weights_and_folds_have_no_faults(seed: int) -> None:
    assert list(faulty(300, seed)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_questions_have_no_faults_in_the_long_run() -> None:
    assert list(faulty(10_000, seed=99)) == []
