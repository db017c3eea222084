"""The R package, freshly installed, and a session of R."""

import sys
from collections.abc import Iterator

import pytest

from tests.support.r_session import R_SAMPLE, RSession, clean_environment, run_command


@pytest.fixture(scope="session")
def r_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables with which R finds the package, freshly installed, and this Python."""
    library = tmp_path_factory.mktemp("r_library")
    environment = clean_environment() | {"R_LIBS": str(library)}
    installed = run_command(
        [sys.executable, "-m", "ucvtest_r", "install", "--library", str(library)], env=environment
    )
    assert installed == ""
    return environment


@pytest.fixture(scope="module")
def r(
    r_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RSession]:
    session = RSession(r_environment, tmp_path_factory.mktemp("r_session"))
    session(R_SAMPLE)
    yield session
    assert session.close() == 0
