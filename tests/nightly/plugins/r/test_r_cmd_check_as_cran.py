"""The R package, checked as CRAN checks it, with its examples."""

from pathlib import Path

import pytest

from tests.full.plugins.r.test_r_cmd_check import LIMIT_OF_CHECK, check


@pytest.mark.requires_r
@pytest.mark.first
@pytest.mark.timeout(2 * LIMIT_OF_CHECK)
def test_r_cmd_check_as_for_cran_finds_nothing(tmp_path: Path) -> None:
    check(tmp_path, "--as-cran")
