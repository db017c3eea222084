"""Every example runs as it stands, in a folder of its own."""

from pathlib import Path

import pytest

from tests.support.paths import ROOT, data_folder
from tests.support.scripts import run_quickly

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEED_DATA = {"many_penalties"}
"""Examples that have nothing to show without data that are not part of the project."""


NEED_R = {"r_learner"}
"""Examples whose learners live in R."""


def marks(example: Path) -> list[pytest.MarkDecorator]:
    needs = ((pytest.mark.requires_data, NEED_DATA), (pytest.mark.requires_r, NEED_R))
    return [mark for mark, examples in needs if example.stem in examples]


@pytest.mark.parametrize(
    "example", [pytest.param(each, marks=marks(each), id=each.stem) for each in EXAMPLES]
)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run_quickly(example, tmp_path, UCVTEST_DATA=str(data_folder()))


@pytest.mark.parametrize("name", sorted(NEED_DATA))
def test_example_names_the_data_that_it_misses(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    said = run_quickly(ROOT / "examples" / f"{name}.py", tmp_path, UCVTEST_DATA=str(missing))
    assert str(missing) in said
    assert "set UCVTEST_DATA" in said
