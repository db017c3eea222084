"""Folds for the AUC keep both classes: by default, and else the test says so before it fits."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

import ucvtest as uv
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.registry import TESTS

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(60, 2)), np.isin(np.arange(60), np.arange(0, 60, 5)).astype(int)
NAMED = [
    uv.designs.KFold(10),
    uv.designs.KFold(4, n_repeats=3),
    uv.designs.RandomSplits(5, test_fraction=0.05),
    uv.designs.HoldOut(0.05),
    uv.designs.SplitHalves(3, n_bisections=2, test_fraction=0.05),
    uv.designs.NestedKFold(5, n_repeats=2),
]
ABOUT_AUC = [
    name
    for name, cls in TESTS.items()
    if issubclass(cls, ResamplingTest) and (cls.needs.only_loss == "auc" or not cls.needs.values)
]
each_design = pytest.mark.parametrize("design", NAMED, ids=lambda design: type(design).__name__)


def never(X_train, y_train, X_test):
    raise AssertionError("nothing is to be fitted")


@each_design
def test_stratified_designs_keep_the_classes_in_proportion(design):
    stratified = design.for_scores()
    assert stratified.words == f"stratified {design.words}"
    drawn = stratified.draw(60, np.random.default_rng(0), strata=Y)
    plain = design.draw(60, np.random.default_rng(0), strata=Y)
    assert set(drawn.test_sizes) <= {
        size + step for size in plain.test_sizes for step in (-1, 0, 1)
    }
    for sets in (drawn.testing, drawn.learning):
        positive = sets[:, Y == 1].sum(axis=1)
        expected = sets.sum(axis=1) * Y.mean()
        assert (np.abs(positive - expected) < 1.5).all()
        assert (positive > 0).all()
        assert (sets[:, Y == 0].any(axis=1)).all()


@each_design
def test_every_observation_of_a_class_is_as_likely(design):
    drawn = [
        design.for_scores().draw(60, np.random.default_rng(seed), strata=Y).testing.mean(axis=0)
        for seed in range(400)
    ]
    share = np.mean(drawn, axis=0)
    for code in (0, 1):
        found = share[code == Y]
        assert np.ptp(found) < 0.15, found
    assert abs(share.mean() - drawn[0].mean()) < 1e-12


def test_stratified_folds_deal_out_each_class():
    testing = (
        uv.designs.KFold(5, stratify=True).draw(60, np.random.default_rng(0), strata=Y).testing
    )
    assert sorted(testing[:, Y == 1].sum(axis=1)) == [2, 2, 2, 3, 3]
    assert (testing.sum(axis=1) == 12).all()


def test_other_losses_are_stratified_only_where_it_is_asked_for():
    plain, asked = uv.designs.KFold(10), uv.designs.KFold(10, stratify=True)
    for design, words in ((plain, ""), (asked, "stratified ")):
        result = uv.CorrectedTTest(X, Y, "lda", "knn:3", design=design).fit(rng=0)
        assert result.settings["design"] == f"{words}10-fold cross-validation"
    with pytest.raises(ValueError, match="stratify=True"):
        uv.CorrectedTTest(X, X[:, 0], "ridge:1.0", "knn:3", design=asked)


@pytest.mark.parametrize("name", ABOUT_AUC)
def test_a_rare_class_is_in_every_test_set_by_default(name):
    result = TESTS[name](X, Y, "lda", "knn:3", loss="auc").fit(rng=0)
    assert result.settings["design"].startswith("stratified ")
    assert result.status == "ok"


@pytest.mark.parametrize("name", [name for name in ABOUT_AUC if name != "delong"])
def test_designs_that_leave_a_class_out_are_refused_before_the_first_fit(name):
    default = TESTS[name].default_design
    explicit = type(default)(**{**vars(default), "stratify": False})
    rare = (np.arange(60) < 1 if "five" in name else np.arange(60) < 3).astype(int)
    with pytest.raises(ValueError, match=r"test sets without the label 1, which have no AUC: use"):
        TESTS[name](X, rare, never, never, loss="auc", design=explicit)


@pytest.mark.parametrize(
    ("name", "design", "n_rare", "remedy"),
    [
        ("corrected_t", KFold(10), 8, "stratified design with at most 8"),
        ("corrected_t", KFold(10), 1, "loss='zero_one'"),
        ("corrected_t", uv.designs.RandomSplits(9, 0.1, stratify=False), 3, "stratified design"),
        ("conservative_z", uv.designs.SplitHalves(stratify=False), 3, "stratified design"),
        ("five_by_two_t", uv.designs.KFold(2, 5, stratify=False), 3, "stratified design"),
        ("five_by_two_t", uv.designs.KFold(2, 5), 1, "loss='zero_one'"),
    ],
)
def test_the_remedy_is_possible(name, design, n_rare, remedy):
    rare = (np.arange(60) < n_rare).astype(int)
    with pytest.raises(ValueError, match=f"which have no AUC: .*{remedy}"):
        TESTS[name](X, rare, never, loss="auc", design=design)


def test_every_door_says_so_or_is_stratified():
    rare = (np.arange(60) < 8).astype(int)
    for design in (KFold(10), uv.designs.KFold(10, stratify=False)):
        spec = uv.TestSpec("corrected_t", {"design": design})
        with pytest.raises(ValueError, match="have no AUC: use a stratified design with at most 8"):
            uv.compare(X, rare, {"a": never, "b": never}, spec, loss="auc", rng=0)
    for design in (8, uv.designs.KFold(8), StratifiedKFold(8)):
        spec = uv.TestSpec("corrected_t", {"design": design})
        assert (
            uv.compare(X, rare, ["lda", "knn:3"], spec, loss="auc", rng=0).result().status == "ok"
        )
        losses = uv.evaluate(["lda", "knn:3"], X, rare, design, "auc", rng=0)
        assert np.isfinite(losses.means).all()
    # What was kept is no mistake of the test: DeLong's needs no AUC of each fold.
    losses = uv.evaluate(["lda", "knn:3"], X, rare, KFold(10), "auc", rng=0)
    assert np.isnan(losses.means).any()
    assert uv.DeLongTest.from_losses(losses).fit().status == "ok"
    result = uv.DeLongTest(X, rare, "lda", "knn:3", design=uv.designs.KFold(10, stratify=False))
    assert result.fit(rng=0).status == "ok"


def test_a_draw_without_a_class_is_refused_before_the_first_fit_too():
    """The trial draw of the constructor may be better than that of the fit."""
    design = uv.designs.KFold(10, stratify=False)
    codes = (np.arange(60) < 24).astype(int)

    def lacks(seed):
        testing = design.draw(60, np.random.default_rng(seed)).testing
        return not (testing[:, codes == 1].any(axis=1) & testing[:, codes == 0].any(axis=1)).all()

    assert not lacks(0)
    seed = next(seed for seed in range(1, 1000) if lacks(seed))
    test = uv.CorrectedTTest(X, codes, never, never, loss="auc", design=design)
    with pytest.raises(ValueError, match="which have no AUC"):
        test.fit(rng=seed)
