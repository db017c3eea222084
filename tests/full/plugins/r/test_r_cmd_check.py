"""The R package, checked by R itself.

In a file of its own, because it takes minutes and the tests of a file run one after the other.
"""

import re
from pathlib import Path

import pytest

from tests.support.compiling import quickly
from tests.support.r_session import PACKAGE, clean_environment, run_command

# Lines that R CMD check may write besides OK: they speak of the machine, or of what every package
# says that is not on CRAN (no known maintainer, a licence file, vignettes that are not built here).
ENVIRONMENT_NOTES = ("unable to verify current time", "CRAN incoming feasibility")

LIMIT_OF_CHECK = 3600
"""Seconds; one core that others use too has taken more than five minutes."""

pytestmark = [
    pytest.mark.requires_r,
    pytest.mark.seconds(900, reason="R CMD check, with the tests of the R package"),
]


def test_description_is_the_only_place_with_a_maintainer() -> None:
    description = (PACKAGE / "DESCRIPTION").read_text()
    (address,) = re.findall(r'email = "([^"]+)"', description)
    texts = [
        path for path in PACKAGE.rglob("*") if path.suffix in {".R", ".Rd", ".Rmd", ".md", ".c"}
    ]
    assert len(texts) > 50
    assert [path.name for path in texts if address in path.read_text()] == []


def check(tmp_path: Path, *options: str) -> None:
    """Have R check the package with these options: it finds nothing, and skips no test."""
    environment = clean_environment()
    # No network: an empty repository instead of one that R would ask for dependencies.
    (tmp_path / "src" / "contrib").mkdir(parents=True)
    (tmp_path / "src" / "contrib" / "PACKAGES").touch()
    profile = tmp_path / "Rprofile.site"
    profile.write_text(f"options(repos = c(empty = 'file://{tmp_path}'))")
    quiet = {
        "R_PROFILE": str(profile),
        "_R_CHECK_SYSTEM_CLOCK_": "0",
        # Snapshots are compared; how long examples take depends on who else computes.
        "NOT_CRAN": "true",
        "_R_CHECK_EXAMPLE_TIMING_THRESHOLD_": "100",
        "_R_CHECK_DONTTEST_EXAMPLES_": "false",
        "_R_CHECK_CRAN_INCOMING_REMOTE_": "false",
    }
    # Vignettes are run by a test of their own.
    build = ["R", "CMD", "build", "--no-build-vignettes", str(PACKAGE)]
    run_command(build, cwd=tmp_path, env=environment)
    (archive,) = tmp_path.glob("ucvtest_*.tar.gz")
    log = run_command(
        ["R", "CMD", "check", "--no-manual", "--ignore-vignettes", *options, archive],
        cwd=tmp_path,
        env=environment | quiet | quickly(),
        limit=LIMIT_OF_CHECK,
    )
    findings = re.findall(r"^\* .*(?:NOTE|WARNING|ERROR)$(?:\n(?!\*).*)*", log, flags=re.MULTILINE)
    assert [text for text in findings if not any(n in text for n in ENVIRONMENT_NOTES)] == []
    # The package's own tests skip where there is no Python; here there is one.
    (report,) = (tmp_path / "ucvtest.Rcheck" / "tests").glob("testthat.Rout")
    assert re.search(r"\[ FAIL 0 \| WARN 0 \| SKIP 0 \| PASS \d+ \]", report.read_text())


# As for CRAN, and with examples: tests/nightly/plugins/r.
@pytest.mark.first
@pytest.mark.timeout(2 * LIMIT_OF_CHECK)
def test_r_cmd_check_finds_nothing(tmp_path: Path) -> None:
    check(tmp_path, "--no-examples")
