"""Every example runs as it stands, in a folder of its own."""

import sys
from pathlib import Path

import pytest

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT, data_folder
from tests.support.processes import finished

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEED_DATA = {"many_penalties", "reproduce_ustatistic", "unseen_rows"}
"""Examples that have nothing to show without data that are not part of the project."""


def run(example: Path, folder: Path, **environment: str) -> str:
    """What an example prints in a folder of its own, of which it uses build/ alone."""
    done = finished(
        [sys.executable, example, "--quick"],
        cwd=folder,
        env=environment_of_users() | {"MPLBACKEND": "Agg"} | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in folder.iterdir()} <= {"build"}
    return done.stdout


def marks(example: Path) -> list[pytest.MarkDecorator]:
    return [pytest.mark.requires_data] if example.stem in NEED_DATA else []


@pytest.mark.parametrize(
    "example", [pytest.param(each, marks=marks(each), id=each.stem) for each in EXAMPLES]
)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run(example, tmp_path, UCVTEST_DATA=str(data_folder()))


@pytest.mark.parametrize("name", sorted(NEED_DATA))
def test_example_names_the_data_that_it_misses(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    said = run(ROOT / "examples" / f"{name}.py", tmp_path, UCVTEST_DATA=str(missing))
    assert str(missing) in said
    assert "set UCVTEST_DATA" in said
