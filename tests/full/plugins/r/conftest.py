"""The R package, freshly installed, and a session of R."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.compiling import quickly
from tests.support.made_once import made_once
from tests.support.r_session import R_SAMPLE, RSession, clean_environment, run_command


@pytest.fixture(scope="session")
def r_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment variables with which R finds the package, freshly installed, and this Python."""
    library = made_once(tmp_path_factory, "r_library", install)
    return clean_environment() | {"R_LIBS": str(library)}


def install(library: Path) -> None:
    """Install the package as users do."""
    environment = clean_environment() | {"R_LIBS": str(library)}
    command = [sys.executable, "-m", "ucvtest_r", "install", "--library", str(library)]
    assert run_command(command, env=environment) == ""


@pytest.fixture(scope="module")
def r(
    r_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RSession]:
    # Scripts of R are compiled as for users; this session shares what is compiled here.
    session = RSession(r_environment | quickly(), tmp_path_factory.mktemp("r_session"))
    session(R_SAMPLE)
    yield session
    assert session.close() == 0
