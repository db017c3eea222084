"""The gallery of the front page: each picture together with the call that draws it."""

import warnings
from typing import NamedTuple

from matplotlib import pyplot

import ucvtest as uv
from made.files import Folder

DATA = """\
import numpy as np
import ucvtest as uv
from sklearn.datasets import load_iris

X, y = load_iris(return_X_y=True)
X, y = X[50:, :2], y[50:]

rng = np.random.default_rng(1)
ill = np.repeat([0, 1], [70, 50])
new = np.clip(0.3 + 0.3 * ill + rng.normal(0, 0.18, 120), 0, 1)
old = np.clip(0.35 + 0.2 * ill + rng.normal(0, 0.2, 120), 0, 1)
"""


class Picture(NamedTuple):
    """A question, the call whose picture answers it, and the page that has more."""

    title: str
    call: str
    page: str


PICTURES = (
    Picture(
        "Do two learners differ?",
        """\
test = uv.UStatisticTest(X, y, "lda", "knn:1", learn_size=30)
test.fit(rng=0).plot()""",
        "tutorials/two-learners",
    ),
    Picture(
        "Which of several learners may be the best?",
        """\
learners = ["lda", "logistic", "knn:5", "knn:1", "majority"]
found = uv.compare(X, y, learners, "ustatistic",
                   correction="simultaneous", rng=0)
found.plot()""",
        "tutorials/many-learners",
    ),
    Picture(
        "How certain is this ROC curve?",
        """\
roc = uv.curves.roc(ill, {"new": new, "old": old})
roc.plot()""",
        "tutorials/curves",
    ),
    Picture(
        "Is the model calibrated?",
        """\
calibration = uv.curves.calibration(ill, {"new": new}, bins=4)
calibration.plot()""",
        "tutorials/curves",
    ),
    Picture(
        "Does treating by the new model do more good?",
        """\
decision = uv.curves.decision(ill, {"new": new, "old": old})
decision.plot(kind="difference")""",
        "tutorials/curves",
    ),
    Picture(
        "Which cells are behind this F1?",
        """\
losses = uv.Losses.from_predictions(
    ill, {"new": (new > 0.5) * 1}, metric="f1")
uv.HoldOutTest.from_losses(losses).fit().plot(kind="cells")""",
        "choose/metrics",
    ),
    Picture(
        "How many patients do I need?",
        """\
plan = uv.plan(X, y, "lda", "knn:1", difference=0.1, rng=0)
plan.plot()""",
        "tutorials/how-many",
    ),
    Picture(
        "Which model should I choose?",
        """\
chosen = uv.select_model(
    X, y, ["knn:25", "knn:9", "knn:3", "knn:1"], rng=0)
chosen.plot()""",
        "methods/permutation",
    ),
)


def write(parts: Folder) -> None:
    """The pictures, and a grid of cards that shows each with its call."""
    cards = []
    for number, (title, call, page) in enumerate(PICTURES, start=1):
        name = f"gallery_{number}.png"
        parts.figure(name, _drawn(call))
        cards += [
            f"::::{{grid-item-card}} {title}",
            f"![{title}](_generated/{name})",
            "",
            f"```python\n{call}\n```",
            ":::{card-footer}",
            f"[More]({page}.md)",
            ":::",
            "::::",
            "",
        ]
    grid = [":::::{grid} 1 1 2 2", ":gutter: 3", "", *cards, ":::::", ""]
    dropdown = [":::{dropdown} The data of these pictures", f"```python\n{DATA}```", ":::", ""]
    parts.text("gallery.md", "\n".join([*grid, *dropdown]))


def _drawn(call: str) -> pyplot.Figure:
    """What the call draws, of the same data for all."""
    pyplot.close("all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        exec(f"{DATA}\n{call}", {})
    return pyplot.gcf()
