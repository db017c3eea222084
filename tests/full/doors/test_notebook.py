"""A notebook with everything that notebooks show, executed by a kernel."""

import os

import pytest

from tests.support.processes import LIMIT

pytestmark = pytest.mark.seconds(90, reason="a kernel of its own")

nbclient = pytest.importorskip("nbclient", reason="needs nbclient: pip install nbclient ipykernel")
nbformat = pytest.importorskip("nbformat")

DATA = """
import numpy as np
import ucvtest as uv
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 3)) + 0.6 * y[:, None]
rules = uv.Losses.from_predictions(y, {"<a>": y, "b": np.roll(y, 1) ^ (np.arange(40) < 30)})
result = uv.CorrectedTTest(X, y, "lda", "knn:3").fit(rng=0)
comparison = uv.compare(X, y, ["lda", "knn:3", "majority"], "corrected_t", rng=0)
chosen = uv.select_model(X, y, ["lda", "knn:3"], n_permutations=5, rng=0)
plan = uv.plan(rules, learner="b", width=0.2)
"""
PAGES = {
    "result": "Corrected resampled t test",
    "comparison": "Comparison of 3 learners",
    "chosen": "Chosen by permutation estimate",
    "plan": "How many observations",
    "rules": "&lt;a&gt;",
    "result.noninferiority(0.1)": "Noninferiority",
    "uv.advise(60)": "Test",
}
PICTURES = ("result", "comparison", "chosen", "plan")


@pytest.fixture(scope="module")
def outputs() -> dict:
    """What each cell shows, by its code."""
    codes = [DATA, *PAGES, *(f"{name}.plot();" for name in PICTURES)]
    cells = [nbformat.v4.new_code_cell(code) for code in codes]
    notebook = nbformat.v4.new_notebook(cells=cells)
    # Kernels show pictures inline, unless this says otherwise.
    environment = {key: text for key, text in os.environ.items() if key != "MPLBACKEND"}
    client = nbclient.NotebookClient(notebook, timeout=LIMIT, kernel_name="python3")
    client.execute(env=environment)
    return {cell.source: cell.outputs for cell in notebook.cells}


# The kernel speaks of its own connection, and nbclient of its loop.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_everything_has_a_page_and_pictures(outputs: dict) -> None:
    assert outputs[DATA] == []
    for code, words in PAGES.items():
        (shown,) = outputs[code]
        assert words in shown.data["text/html"], code
    for name in PICTURES:
        (shown,) = outputs[f"{name}.plot();"]
        assert "image/png" in shown.data, name
