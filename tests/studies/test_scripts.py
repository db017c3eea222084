"""Every script of every study runs as it stands, and README has a line on each."""

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import run_quickly

STUDIES = ROOT / "studies"
SCRIPTS = [
    path
    for path in sorted(STUDIES.rglob("*.py"))
    if 'if __name__ == "__main__":' in path.read_text(encoding="utf-8")
]
# It measures what the other benchmarks measure; test_benchmarks.py runs parts of it.
RUN = [path for path in SCRIPTS if path != STUDIES / "benchmarks" / "report.py"]


@pytest.mark.study
@pytest.mark.parametrize("script", RUN, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_script_runs(script: Path, tmp_path: Path) -> None:
    assert run_quickly(script, tmp_path)


def test_readme_has_a_line_on_every_script() -> None:
    text = (STUDIES / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `python (studies/[\w/]+\.py)[^`]*` \|", text, re.M)
    assert sorted(named) == [str(path.relative_to(ROOT)) for path in SCRIPTS]
