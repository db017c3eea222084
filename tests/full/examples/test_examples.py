"""Every example runs as it stands, in a folder of its own."""

from pathlib import Path

import pytest

from tests.support.paths import ROOT, data_folder
from tests.support.scripts import run_quickly, run_together

pytestmark = pytest.mark.seconds(400, reason="whole examples, compiled as for users")

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEED_DATA = {"many_penalties"}
"""Examples that have nothing to show without data that are not part of the project."""


NEED_R = {"r_learner"}
"""Examples whose learners live in R."""

TOGETHER = ("opening", "interoperability", "promotion_gate", "mlflow_tracking", "demo")
"""Examples that share a process; those that log every test from then on come last."""


def marks(example: Path) -> list[pytest.MarkDecorator]:
    needs = ((pytest.mark.requires_data, NEED_DATA), (pytest.mark.requires_r, NEED_R))
    return [mark for mark, examples in needs if example.stem in examples]


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(each, marks=marks(each), id=each.stem)
        for each in EXAMPLES
        if each.stem not in TOGETHER
    ],
)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    assert run_quickly(example, tmp_path, UCVTEST_DATA=str(data_folder()))


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bool, str]]:
    """Whether those that share a process end well, and what they print."""
    paths = [ROOT / "examples" / f"{name}.py" for name in TOGETHER]
    return run_together(paths, tmp_path_factory.mktemp("together"))


@pytest.mark.parametrize("name", TOGETHER)
def test_example_runs_beside_others(name: str, outcomes: dict[str, tuple[bool, str]]) -> None:
    well, printed = outcomes[name]
    assert well, printed
    assert printed


def test_the_example_that_fails_is_named(tmp_path: Path) -> None:
    for name, text in (("bad", "print(1); raise SystemExit('no')"), ("good", "print(2)")):
        (tmp_path / f"{name}.py").write_text(text)
    folder = tmp_path / "build"
    folder.mkdir()
    found = run_together([tmp_path / "bad.py", tmp_path / "good.py"], folder)
    assert found["good"] == (True, "2\n")
    assert not found["bad"][0]
    assert found["bad"][1].endswith("SystemExit: no\n")


@pytest.mark.parametrize("name", sorted(NEED_DATA))
def test_example_names_the_data_that_it_misses(name: str, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    said = run_quickly(ROOT / "examples" / f"{name}.py", tmp_path, UCVTEST_DATA=str(missing))
    assert str(missing) in said
    assert "set UCVTEST_DATA" in said
