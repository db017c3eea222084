"""The package as a whole: quick to import, honest about its names and version."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import version

import numpy as np
import pytest

import ucvtest as uv
from tests.support.paths import ROOT

pytestmark = pytest.mark.seconds(
    30, reason="starts processes, which import and compile for themselves"
)


def run_python(code: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return finished.stdout


def test_version_is_that_of_the_distribution() -> None:
    assert uv.__version__ == version("ucvtest")


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("CHANGELOG.md", "## {}"),
        ("CITATION.cff", "version: {}"),
        ("r_bridge/ucvtest/DESCRIPTION", "Version: {}"),
        ("r_bridge/ucvtest/NEWS.md", "# ucvtest {}"),
        ("recipe/meta.yaml", '{{% set version = "{}" %}}'),
    ],
)
def test_files_that_must_name_the_version_agree(file: str, line: str) -> None:
    lines = (ROOT / file).read_text().splitlines()
    # The first line of this form, since older versions may follow.
    beginning = line.format("\0").partition("\0")[0]
    first = next(each for each in lines if each.startswith(beginning))
    assert first == line.format(uv.__version__)


def test_pyproject_reads_the_version() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert pyproject["project"]["dynamic"] == ["version"]
    assert pyproject["tool"]["hatch"]["version"] == {"path": "ucvtest/__init__.py"}


STEP_BY_STEP = """
import json, sys
found = {}
def note(step, *names):
    found[step] = [name for name in names if name in sys.modules]
import ucvtest as uv
# Nor does it look for plugins.
note("import", "jax", "matplotlib", "mlflow", "rpy2", "sklearn", "statsmodels", "polars",
     "pyarrow", "openpyxl", "narwhals", "numpy", "pandas", "ucvtest.common.plugins")
import numpy as np, ucvtest.learners.jitted.lasso
np.random.seed(1)
import ucvtest.kernels.ustatistic, ucvtest.common.float64
assert "jax" in sys.modules
found["random"] = np.random.random()
uv.CorrectedTTest([[0.0], [1.0], [3.0]] * 10, [0, 1, 1] * 10, "knn:1")
note("a test", "polars", "openpyxl")
print(json.dumps(found))
"""


def test_each_step_loads_what_it_needs_and_moves_no_random_state() -> None:
    assert json.loads(run_python(STEP_BY_STEP)) == {
        "import": [],
        "random": np.random.RandomState(1).random(),
        "a test": [],
    }


def test_public_names_resolve() -> None:
    assert [name for name in uv.__all__ if getattr(uv, name) is None or name not in dir(uv)] == []
    with pytest.raises(AttributeError, match="'ucvtest' has no attribute 'no_such_name'"):
        uv.no_such_name  # noqa: B018
