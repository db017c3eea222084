"""The page on speed has every part that the report on benchmarks writes."""

import subprocess
import sys

from studies.benchmarks import report
from tests.support.compiling import environment_of_users


def test_the_page_holds_what_the_report_writes() -> None:
    """As `studies/benchmarks/report.py --check` does."""
    assert report.problems(report.PAGE.read_text(encoding="utf-8")) == []


def test_the_report_measures() -> None:
    parts = ("fits", "whole", "first")
    finished = subprocess.run(
        [sys.executable, report.__file__, "--quick", "--only", *parts],
        env=environment_of_users(),
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    for name in parts:
        assert report.opening(name) in finished.stdout
    assert finished.stdout.count("scikit-learn 1.") == 3
