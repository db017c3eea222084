"""Install wheel and sdist into empty environments, and run a test there from an empty folder.

    python .ci/try_distributions.py build/dist             # wheel and sdist
    python .ci/try_distributions.py build/dist plot excel  # the wheel with each extra

Any Python with the module `venv` runs this; nothing is installed outside a temporary folder.
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

TRIAL = """
import time
start = time.perf_counter()
import ucvtest as uv
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
result = uv.UStatisticTest(X[50:, :2], y[50:], "lda", "nearest_centroid", learn_size=30).fit(rng=0)
assert 0 < result.pvalue <= 1, result
print(f"ucvtest {uv.__version__}, first test after {time.perf_counter() - start:.1f} s")
"""

EXTRAS = {
    "cluster": "import dask.distributed",
    "excel": """
import pandas as pd, ucvtest as uv
from ucvtest.cli import app
from typer.testing import CliRunner
table = {"ill": ["yes", "no"] * 20, "a": ["yes", "no"] * 20, "b": ["yes"] * 25 + ["no"] * 15}
pd.DataFrame(table).to_excel("table.xlsx", index=False)
done = CliRunner().invoke(app, ["predictions", "table.xlsx", "--target", "ill", "--scores", "a,b"])
assert done.exit_code == 0, done.output
""",
    "mlflow": "import ucvtest_mlflow, ucvtest; ucvtest.autolog()",
    "plot": """
import matplotlib; matplotlib.use("Agg")
import ucvtest as uv
losses = uv.Losses.from_predictions([0, 1] * 20, {"a": [0, 1] * 20, "b": [0, 1, 1, 0] * 10})
uv.HoldOutTest.from_losses(losses).fit().plot().figure.savefig("picture.png")
""",
    "r": "import ucvtest_r",
    "survival": "import sksurv, lifelines",
}
"""What an extra is for, as short code."""


def run(python: Path, folder: Path, *arguments: str) -> str:
    """What a command prints; it may not see this repository, nor packages of the user."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment | {"PYTHONNOUSERSITE": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def installed(distribution: Path, extra: str, folder: Path) -> Path:
    """The Python of a new environment that has this distribution."""
    start = time.perf_counter()
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    name = f"ucvtest[{extra}]" if extra else "ucvtest"
    requirement = f"{name} @ {distribution.resolve().as_uri()}"
    run(python, folder, "-m", "pip", "install", "--quiet", requirement)
    print(f"{distribution.name} {extra}: installed in {time.perf_counter() - start:.0f} s")
    return python


def try_out(distribution: Path, extra: str = "") -> None:
    """Install it, and run what it is for."""
    with tempfile.TemporaryDirectory() as temporary:
        python = installed(distribution, extra, Path(temporary, "venv"))
        empty = Path(temporary, "empty")
        empty.mkdir()
        print("   ", run(python, empty, "-c", TRIAL))
        run(python, empty, "-m", "ucvtest", "--help")
        if extra:
            run(python, empty, "-c", EXTRAS[extra])


def main() -> None:
    """The distributions of a folder, or its wheel with the extras that are named."""
    folder, *extras = sys.argv[1:]
    (wheel,), (sdist,) = (
        list(Path(folder).glob(f"ucvtest-*{ending}")) for ending in (".whl", ".tar.gz")
    )
    if not extras:
        try_out(wheel)
        try_out(sdist)
    for extra in extras:
        try_out(wheel, extra)


if __name__ == "__main__":
    main()
