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

HEAVY = ("jax", "matplotlib", "mlflow", "numba", "rpy2", "sklearn", "statsmodels")


def run_python(code: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return finished.stdout


def test_import_loads_nothing_heavy() -> None:
    loaded = json.loads(run_python("import json, sys, ucvtest; print(json.dumps([*sys.modules]))"))
    assert [name for name in HEAVY if name in loaded] == []
    # Nor does it look for plugins.
    assert "ucvtest.common.plugins" not in loaded


@pytest.mark.parametrize(
    "module", ["kernels.ustatistic", "learners.jitted.lasso", "common.float64"]
)
def test_import_of_jax_moves_no_random_state(module: str) -> None:
    code = (
        "import numpy as np; np.random.seed(1); "
        f"import sys, ucvtest.{module}; print('jax' in sys.modules, np.random.random())"
    )
    loaded, number = run_python(code).split()
    assert loaded == "True"
    assert float(number) == np.random.RandomState(1).random()


@pytest.mark.parametrize("name", uv.__all__)
def test_public_name_resolves(name: str) -> None:
    assert getattr(uv, name) is not None
    assert name in dir(uv)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError) as caught:
        uv.no_such_name  # noqa: B018
    assert str(caught.value) == "module 'ucvtest' has no attribute 'no_such_name'"


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
