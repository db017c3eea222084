"""A few hundred random calls end in an answer, or in the package's own words."""

import pytest

from tests.nightly.promises.random_calls import foreign


@pytest.mark.parametrize("part", range(3))
def test_no_foreign_exceptions(part: int) -> None:
    assert list(foreign(100, seed=part)) == []


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_no_foreign_exceptions_in_the_long_run() -> None:
    assert list(foreign(20_000, seed=99)) == []
