"""Every script of every study runs as it stands, and README has a line on each."""

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT, data_folder
from tests.support.scripts import run_quickly

STUDIES = ROOT / "studies"
SCRIPTS = [
    path
    for path in sorted(STUDIES.rglob("*.py"))
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
]
# It measures what the other benchmarks measure; test_benchmarks.py runs parts of it.
RUN = [path for path in SCRIPTS if path != STUDIES / "benchmarks" / "report.py"]
NEED_DATA = {
    "benchmarks/lasso",
    "calibration/unseen_rows",
    "reproductions/ustatistic",
}
"""Scripts that have nothing to show without data that are not part of the project."""


def name_of(script: Path) -> str:
    return f"{script.parent.name}/{script.stem}"


def marks(script: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.requires_data] if name_of(script) in NEED_DATA else []


@pytest.mark.parametrize(
    "script", [pytest.param(each, marks=marks(each), id=name_of(each)) for each in RUN]
)
def test_script_runs(script: Path, tmp_path: Path) -> None:
    assert run_quickly(script, tmp_path, UCVTEST_DATA=str(data_folder()))


@pytest.mark.parametrize("name", sorted(NEED_DATA))
def test_script_names_the_data_that_it_misses(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    said = run_quickly(STUDIES / f"{name}.py", tmp_path, UCVTEST_DATA=str(missing))
    assert str(missing) in said
    assert "set UCVTEST_DATA" in said


def test_readme_has_a_line_on_every_script() -> None:
    text = (STUDIES / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `python (studies/[\w/]+\.py)[^`]*` \|", text, re.M)
    assert sorted(named) == [str(path.relative_to(ROOT)) for path in SCRIPTS]
