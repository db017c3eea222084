"""The picture of a result, read back from the artists that it is made of."""

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from tests.support.paths import ROOT
from tests.support.results import sample_result
from ucvtest.results.drawing import CHOSEN, draw_layers
from ucvtest.results.plot_data import Layer, Picture

RESULT = sample_result(
    diagnostics={"variance": "unbiased"},
    tables={
        "Variances": {
            "variance": ("unbiased", "asymptotic", "jackknife"),
            "estimate": (0.01, -0.001, 0.02),
            "conf_low": (-0.336, math.nan, -0.417),
            "conf_high": (0.056, math.nan, 0.137),
        }
    },
)


@pytest.fixture
def ax() -> Axes:
    """Axes of a figure that pyplot knows nothing of."""
    return Figure().subplots()


def interval_lines(ax: Axes) -> list[tuple[float, float]]:
    """Ends of the horizontal lines, from the top to the bottom."""
    lines = [line for line in ax.lines if len(line.get_xdata()) == 2]
    flat = [line for line in lines if len(set(line.get_ydata())) == 1]
    return [tuple(map(float, line.get_xdata())) for line in flat]


def labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_chosen_interval_first_then_the_others_that_exist(ax: Axes) -> None:
    assert RESULT.plot(ax) is ax
    assert labels(ax) == ["unbiased, 95%", "jackknife, 95%"]
    np.testing.assert_allclose(interval_lines(ax), [RESULT.conf_int(), (-0.417, 0.137)])
    assert same_color(ax.lines[1].get_color(), CHOSEN)
    assert ax.get_xlabel() == "difference of error rates"
    assert ax.get_title(loc="left") == "lda minus knn:3"


def test_alpha_changes_the_chosen_interval(ax: Axes) -> None:
    RESULT.plot(ax, alpha=0.2)
    assert labels(ax)[0] == "unbiased, 80%"
    np.testing.assert_allclose(interval_lines(ax)[0], RESULT.conf_int(alpha=0.2))


@pytest.mark.parametrize(
    ("better", "expected"),
    [
        ("lower", ["first better \N{LEFTWARDS ARROW}", "\N{RIGHTWARDS ARROW} second better"]),
        ("higher", ["second better \N{LEFTWARDS ARROW}", "\N{RIGHTWARDS ARROW} first better"]),
    ],
)
def test_sides_are_named(ax: Axes, better: str, expected: list[str]) -> None:
    replace(RESULT, diagnostics={}, better=better).plot(ax)
    assert words(ax) == expected


@pytest.mark.parametrize(("alternative", "marker"), [("less", "<"), ("greater", ">")])
def test_one_sided_interval_reaches_the_edge(ax: Axes, alternative, marker: str) -> None:
    result = replace(RESULT, alternative=alternative, tables={})
    result.plot(ax)
    low, high = interval_lines(ax)[0]
    left, right = ax.get_xlim()
    expected = (left, result.conf_int()[1]) if marker == "<" else (result.conf_int()[0], right)
    assert (low, high) == pytest.approx(expected)
    assert marker in [line.get_marker() for line in ax.lines]


def test_one_learner_without_null_value(ax: Axes) -> None:
    single = {"settings": {"learner": "lda"}, "null_value": math.nan, "pvalue": math.nan}
    replace(RESULT, **single, diagnostics={}, tables={}).plot(ax)
    assert labels(ax) == ["95% interval"]
    assert words(ax) == []
    assert [line.get_linestyle() for line in ax.lines if line.get_linestyle() == "--"] == []


def test_without_an_interval_the_status_is_written(ax: Axes) -> None:
    replace(RESULT, se=math.nan, status="negative variance: more pairs", tables={}).plot(ax)
    assert labels(ax) == ["unbiased"]
    assert interval_lines(ax) == []
    assert words(ax)[-1] == "negative variance: more pairs"


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_save_plot(tmp_path: Path, suffix: str) -> None:
    RESULT.save_plot(tmp_path / f"plot.{suffix}")
    start = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}[suffix]
    assert (tmp_path / f"plot.{suffix}").read_bytes().startswith(start)


def test_nothing_to_draw_is_no_error(ax: Axes) -> None:
    empty = replace(RESULT, estimate=math.nan, se=math.nan, null_value=math.nan, tables={})
    assert interval_lines(empty.plot(ax)) == []


def test_new_figure_comes_from_pyplot_and_files_leave_it_alone(tmp_path: Path) -> None:
    # In a process of its own: the backend and the open figures are global.
    code = f"""
import sys
from tests.full.results.test_drawing import RESULT
RESULT.save_plot({str(tmp_path / "plot.png")!r})
assert "matplotlib.pyplot" not in sys.modules
ax = RESULT.plot()
from matplotlib import pyplot
assert pyplot.gcf() is ax.figure
"""
    environment = {"MPLBACKEND": "agg", "PATH": "", "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("draw", [lambda path: RESULT.plot(), lambda path: RESULT.save_plot(path)])
def test_without_matplotlib(draw, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError) as error:
        draw(tmp_path / "plot.png")
    assert str(error.value) == "plots need matplotlib: pip install 'ucvtest[plot]'"


NULL_PICTURE = Picture(
    "wrong pairs",
    "probability",
    [
        Layer("area", x=[0, 1, 1, 0], y=[0, 0, 1, 1], role="other"),
        Layer("bars", x=[0, 1, 3], y=[0.2, 0.3, 0.5], label="null distribution"),
        Layer("line", x=[0, 3], y=[0.2, 0.5], role="null"),
        Layer("points", x=[1], y=[0.3], role="limit"),
        Layer("vertical", x=[1, 2], label="observed", role="estimate"),
        Layer("horizontal", y=0.05, label="level", role="limit"),
    ],
    title="Where the result lies",
)
PICTURED = replace(RESULT, pictures={"null distribution": NULL_PICTURE})


def test_every_layer_of_a_picture_is_drawn(ax):
    PICTURED.plot(ax, kind="null distribution")
    assert [bar.get_height() for bar in ax.containers[0]] == [0.2, 0.3, 0.5]
    assert [bar.get_width() for bar in ax.containers[0]] == [1, 1, 1]
    assert len(ax.lines) == 5
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(entries) == ["level", "null distribution", "observed"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("wrong pairs", "probability")
    assert ax.get_title(loc="left") == "Where the result lies"


def test_the_interval_comes_first_where_there_is_one():
    assert PICTURED.plot_kinds == ("interval", "null distribution")
    without = replace(PICTURED, se=math.nan)
    assert without.plot_kinds == ("null distribution", "interval")
    assert replace(RESULT, se=math.nan).plot_kinds == ("interval",)


def test_the_status_is_told_below_a_picture(ax):
    replace(PICTURED, status="too few permutations").plot(ax=ax, kind="null distribution")
    assert "too few permutations" in [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("mark", ["line", "broken"])
def test_a_line_through_one_point_is_drawn_as_a_point(ax, mark):
    layers = [Layer(mark, [0.3], [0.5], "one"), Layer(mark, [0, 1], [0, 1], "two")]
    draw_layers(ax, Picture("x", "y", layers))
    assert [line.get_marker() for line in ax.lines] == ["o", "None"]
    dashed = [line.get_linestyle() == "--" for line in ax.lines]
    assert dashed == [mark == "broken"] * 2


def test_labels_that_begin_with_an_underscore_are_in_the_legend(ax):
    marks = ("line", "broken", "points", "bars", "area", "vertical", "horizontal")
    names = [f"_{mark}$" for mark in marks]
    layers = [
        Layer(
            mark,
            () if mark == "horizontal" else [0, 1],
            () if mark == "vertical" else [0, 1],
            name,
        )
        for mark, name in zip(marks, names, strict=True)
    ]
    ax.plot([0, 1], [1, 0], label="_of the user")
    draw_layers(ax, Picture("x", "y", [*layers, Layer("line", [0, 1], [0, 1])]))
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(entries) == sorted(names)
    ax.figure.canvas.draw()
