"""Habits of statsmodels and SciPy: what is printed, and pictures on axes that people give."""

import sys
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pytest
import tqdm
from sklearn.linear_model import LogisticRegression

import ucvtest as uv
from ucvtest.common.execution import progress_bar

RNG = np.random.default_rng(2)
X = RNG.normal(size=(50, 2))
Y = (X[:, 0] + RNG.normal(size=50) > 0).astype(int)


@pytest.fixture(scope="module")
def result():
    return uv.CorrectedTTest(X, Y, LogisticRegression(C=0.123456, max_iter=400), "lda").fit(rng=0)


def test_print_shows_the_summary_and_repr_is_a_line(result):
    assert str(result) == result.summary().as_text()
    assert "\n" not in repr(result)
    assert f"{result.noninferiority(0.1)}" == result.noninferiority(0.1).summary().as_text()
    statistic, pvalue = result
    assert (statistic, pvalue) == (result.statistic, result.pvalue)


def test_summary_is_at_the_level_asked_for(result):
    assert "90% low" in result.summary(0.1).as_text()
    low, high = result.conf_int(0.1)
    assert f"{low:.4f}" in result.summary(0.1).as_text()
    assert f"{high:.4f}" in result.summary(0.1).as_text()


def test_a_test_says_what_it_is_about_to_fit():
    test = uv.CorrectedTTest(X, Y, "lda", "knn:3")
    assert repr(test) == (
        "<CorrectedTTest('lda', 'knn:3', metric='zero_one', n_obs=50), not run yet: 20 fits>"
    )
    losses = uv.evaluate(["lda", "knn:3"], X, Y, rng=0)
    assert "not run yet: 0 fits" in repr(uv.CorrectedTTest.from_losses(losses))
    assert "as many fits as its options say" in repr(uv.UStatisticTest(X, Y, "lda"))
    assert test.fit(rng=0).n_fits == test.planned_fits


def test_a_plot_stays_within_the_axes_that_were_given(result):
    figure, (ax, _) = plt.subplots(1, 2, figsize=(7, 3))
    result.plot(ax=ax)
    figure.canvas.draw()
    frame = ax.get_window_extent()
    for text in [ax.title, ax._left_title, ax.xaxis.label, *ax.texts]:
        box = text.get_window_extent()
        assert box.x0 >= frame.x0 - 8
        assert box.x1 <= frame.x1 + 8
    plt.close(figure)


def test_bars_are_drawn_by_tqdm_auto_in_notebooks(monkeypatch):
    class Bar(tqdm.std.tqdm):
        """A bar that writes nothing."""

        def __init__(self, *args, **options):
            super().__init__(*args, **options, gui=True)

    monkeypatch.setattr("tqdm.auto.tqdm", Bar)
    with progress_bar(None, "tests", "fit") as bar:
        assert not isinstance(bar, Bar)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr("ucvtest.common.execution.find_spec", lambda name: name == "ipywidgets")
    with progress_bar(None, "tests", "fit") as bar:
        assert isinstance(bar, Bar)
        assert not bar.disable
