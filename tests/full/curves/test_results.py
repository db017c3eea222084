"""What a curve says, shows and refuses."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

Y = np.arange(30) % 2
GOOD = np.clip(Y * 0.5 + np.linspace(0.05, 0.45, 30), 0, 1)
POOR = np.random.default_rng(0).random(30)
MAKERS = (uv.curves.roc, uv.curves.precision_recall, uv.curves.calibration, uv.curves.decision)
BOTH = {"good": GOOD, "poor": POOR}


@pytest.fixture(scope="module")
def curves():
    return {make.__name__: make(Y, BOTH) for make in MAKERS}


def test_curves_travel_through_json_and_pickle(curves):
    for curve in curves.values():
        assert pickle.loads(pickle.dumps(curve)) == curve
        assert uv.curves.Curve.from_dict(json.loads(curve.to_json())) == curve


def test_frames_have_a_row_for_each_point_of_each_band(curves):
    frame = curves["roc"].to_frame()
    assert len(frame) == 6 * len(curves["roc"].band().x)
    values = ["n", "estimate", "se", "low", "high", "low_all", "high_all"]
    assert list(frame.columns) == ["learner", "quantity", "threshold", *values]
    assert "mean_prediction" in curves["calibration"].to_frame()
    assert set(curves["calibration"].to_frame()["learner"]) == {"good", "poor"}


def test_summaries_say_what_is_covered(curves):
    for curve in curves.values():
        assert str(curve) == curve.summary().as_text()
        assert "summary(notes=True)" in str(curve)
        text = " ".join(curve.summary(notes=True).as_text().split())
        assert "of these rules" in text
        assert "with 95% confidence" in text
        assert "at once" in text
        assert curve.summary().as_html()
    assert "good has the larger sensitivity" in curves["roc"].verdict
    assert curves["calibration"].verdict == ""
    same = uv.curves.decision(Y, {"a": POOR, "b": POOR})
    assert same.verdict.startswith("No evidence at the 5% level that a and b differ")
    assert repr(same) == "Curve(kind='decision', learners=('a', 'b'), n_obs=30, 50 points)"


@pytest.mark.parametrize("kind", ["curve", "difference"])
def test_a_learner_that_flags_no_row_has_an_area_alone(kind):
    from ucvtest.curves.picture import picture_of

    curve = uv.curves.precision_recall(Y, {"good": GOOD, "low": 0.1 * POOR}, thresholds=[0.5, 0.6])
    assert np.isnan(curve.band("low", "precision").estimate).all()
    drawn = [layer.mark for layer in picture_of(curve, kind).layers if layer.role == "estimate"]
    assert ("line" in drawn) == (kind == "curve")
    labels = {layer.label for layer in picture_of(curve, kind).layers}
    assert not labels & {"low", "precision"}


def test_pictures_are_drawn(curves, tmp_path):
    from matplotlib.figure import Figure

    for name, curve in curves.items():
        assert curve.plot_kinds == (
            ("curve", "difference") if name != "calibration" else ("curve",)
        )
        for kind in curve.plot_kinds:
            ax = curve.plot(Figure().subplots(), kind=kind)
            labels = [each.get_text() for each in ax.get_legend().get_texts()]
            assert len(labels) > 1
    curves["decision"].save_plot(tmp_path / "decision.svg")
    assert (tmp_path / "decision.svg").stat().st_size > 1000
    with pytest.raises(
        ValueError, match="quantity='recall': this curve has good \\(sensitivity\\)"
    ):
        curves["roc"].band("good", "recall")
    with pytest.raises(ValueError, match="kind='area' is unknown: this curve has curve, diff"):
        curves["roc"].plot(kind="area")


def test_the_region_of_a_roc_curve_contains_its_points(curves):
    from matplotlib.path import Path

    from ucvtest.curves.picture import picture_of

    region, *_ = picture_of(uv.curves.roc(Y, {"a": POOR}), "curve").layers
    assert region.mark == "area"
    # It rises, from corner to corner.
    half = len(region.x) // 2
    assert (np.diff(region.x[:half]) >= 0).all()
    assert (np.diff(region.y[:half]) >= 0).all()
    outline = Path(np.column_stack([region.x, region.y]))
    curve = uv.curves.roc(Y, {"a": POOR})
    points = 1 - curve.band("a", "specificity").estimate, curve.band("a", "sensitivity").estimate
    inside = outline.contains_points(np.column_stack(points), radius=1e-9)
    on_edge = np.isin(points[0], (0, 1)) | np.isin(points[1], (0, 1))
    assert (inside | on_edge).all()


def test_out_of_fold_predictions_are_about_rules_learnt_here():
    fold = (np.arange(30) // 2) % 3
    curve = uv.curves.roc(Y, {"good": GOOD}, fold=fold)
    assert "of the rules fitted here, rows pooled over 3 folds" in str(curve.settings["estimand"])
    assert any("not the cross-validated AUC" in " ".join(note.split()) for note in curve.notes)
    assert curve.settings["n_folds"] == 3
    fixed = uv.curves.roc(Y, {"good": GOOD})
    pd.testing.assert_frame_equal(curve.to_frame(), fixed.to_frame())
    # Folds of one row have no AUC, and a curve all the same.
    pd.testing.assert_frame_equal(
        uv.curves.roc(Y, {"good": GOOD}, fold=np.arange(30)[::-1]).to_frame(), fixed.to_frame()
    )
    groups = np.arange(30) // 2
    assert uv.curves.roc(Y, {"a": GOOD}, fold=fold, groups=groups).settings["n_groups"] == 15


def test_notes_warn_of_few_rows_and_clusters():
    y = np.r_[np.ones(4, int), np.zeros(26, int)]
    curve = uv.curves.decision(y, {"a": POOR}, groups=np.arange(30) // 2)
    notes = " ".join(curve.notes)
    assert "The rarer class has only 4 rows" in notes
    assert "With only 15 clusters" in notes


@pytest.mark.parametrize(
    ("make", "given", "message"),
    [
        (uv.curves.roc, {"y": np.arange(30) % 3}, "a curve needs two classes, but y has 3: merge"),
        (uv.curves.roc, {"y": Y + 0.5 * np.linspace(0, 1, 30)}, "a curve needs class labels"),
        (uv.curves.roc, {"predictions": {"a": np.where(Y, np.inf, 1)}}, "contains infinite"),
        (uv.curves.roc, {"groups": np.zeros(30)}, "groups names one group only"),
        (uv.curves.roc, {"fold": [None] * 30}, "fold has 30 missing values"),
        (
            uv.curves.roc,
            {"fold": np.tile(np.arange(30) % 3, (2, 1)), "predictions": {"a": [GOOD, GOOD]}},
            "fold has several repeats of the cross-validation, but a curve counts each row once",
        ),
        (
            uv.curves.roc,
            {"fold": np.arange(30) // 10, "groups": np.arange(30) % 4},
            "learns from a part of group 2: learning and test sets must contain whole groups",
        ),
        (uv.curves.decision, {"thresholds": [0.2, 1.0]}, "numbers above 0 and below 1"),
        (uv.curves.decision, {"predictions": BOTH | {"good": 3 * GOOD}}, r"\['good'\] goes from"),
        (uv.curves.calibration, {"bins": 1000}, "bins must be at most 100"),
        (uv.curves.calibration, {"bins": [0, 0.5]}, "edges that rise and contain all predictions"),
        (uv.curves.calibration, {"bins": [0, 0.5, 0.5, 1]}, "edges that rise"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_remedy(make, given, message):
    arguments = {"y": Y, "predictions": {"a": GOOD}} | given
    with pytest.raises(ValueError, match=message):
        make(arguments.pop("y"), arguments.pop("predictions"), **arguments)


def test_rows_in_another_order_are_refused():
    y, fold = pd.Series(Y), pd.Series(np.arange(30) // 10, index=np.arange(30)[::-1])
    with pytest.raises(ValueError, match="y and fold have the same index in another order"):
        uv.curves.roc(y, {"a": GOOD}, fold=fold)
