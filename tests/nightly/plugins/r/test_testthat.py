"""Tests in R that are too long for the package's own: other packages, learners, workers."""

from pathlib import Path

import pytest

from tests.support.compiling import quickly
from tests.support.r_session import run_command

FILES = sorted(Path(__file__).parent.glob("test-*.R"))


@pytest.mark.requires_r
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_r(r_environment: dict[str, str], path: Path) -> None:
    # Other packages ask the system for the time zone, which containers do not have.
    environment = r_environment | quickly() | {"NOT_CRAN": "true", "TZ": "UTC"}
    code = (
        "library(ucvtest); testthat::test_file(commandArgs(TRUE), reporter = 'check', "
        "package = 'ucvtest', load_package = 'installed', stop_on_failure = TRUE)"
    )
    run_command(["Rscript", "-e", code, path], env=environment)
