"""Whatever the public callables get, they answer, or refuse it themselves.

No exception of NumPy's or Python's own, no NaN in a result that says "ok", no result that cannot be
written, and no call that does not end. Arguments that only ask for work (numbers of draws, of fits)
are never huge: such a call ends, but not soon.
"""

import inspect
import json
import math
import pickle
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv
from tests.core.promises.own_errors import is_own
from tests.support.cells import all_of_them
from tests.support.paths import ROOT
from ucvtest.data.groups import as_groups
from ucvtest.methods.registry import TESTS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
Y = np.arange(24) % 2
FOLDS = np.arange(24) % 4
PAIRS = np.stack([RNG.permuted(np.arange(24)) for _ in range(8)])
L1, L2 = (np.zeros((8, 24), dtype=bool) for _ in range(2))
np.put_along_axis(L1, PAIRS[:, :6], True, axis=1)
np.put_along_axis(L2, PAIRS[:, 6:12], True, axis=1)
TESTED = FOLDS[None] == np.arange(4)[:, None]
HALF = RNG.permuted(np.tile(np.arange(4) < 2, (2, 40, 1)), axis=2)
LEARNT = np.concatenate(list(HALF), axis=1)
HALVES = np.zeros((40, 24), dtype=bool)
for first in (0, 1):
    HALVES[:, first::2] = RNG.permuted(np.tile(np.arange(12) < 6, (40, 1)), axis=1)
HAT = np.full((24, 24), 1 / 24)
NEAREST = np.array([[(i + d) % 24 for d in (1, 2, 3)] for i in range(24)])
DESIGN = uv.designs.Design.checked(~TESTED, TESTED)
RECOGNISED = {
    name: made.draw(24, np.random.default_rng(0))
    for name, made in (
        ("disjoint_sets_of", uv.designs.DisjointSets(3, 3)),
        ("halves_of", uv.designs.SplitHalves(3, 2)),
        ("nested_folds_of", uv.designs.NestedKFold(3, 2)),
    )
}
LOSSES = uv.evaluate(["lda", "knn:3"], X, Y, 4, rng=0)

SKLEARN = {
    "test_score": np.full(4, 0.5),
    "indices": {
        "train": [np.flatnonzero(~each) for each in TESTED],
        "test": [np.flatnonzero(each) for each in TESTED],
    },
}

# fmt: off
KERNELS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "from_pairs": (uv.kernels.ustatistic.from_pairs, {"D1": X[:8, :1] + L1, "D2": L2 * 1.0,
        "L1": L1, "L2": L2}),
    "from_scores": (uv.kernels.auc_ustatistic.from_scores, {"scores": X[:8, 0] + LEARNT,
        "learnt": LEARNT, "y": np.arange(8) // 4, "other": X[:8, 1] - LEARNT, "exact": False,
        "cluster": np.arange(40) // 2}),
    "auc": (uv.kernels.influence.auc, {"scores": HALVES * 1.0, "tested": HALVES, "y": Y}),
    "error": (uv.kernels.influence.error, {"losses": TESTED * 1.0, "tested": TESTED}),
    "ad_hoc_variances": (uv.kernels.influence.ad_hoc_variances, {"fold_values": X}),
    "moments": (uv.kernels.fold_covariance.moments, {"e": X[:, 0], "fold": FOLDS}),
    "moments_by_row": (uv.kernels.fold_covariance.moments_by_row, {"e": X[:, 0], "fold": FOLDS}),
    "hold_out": (uv.kernels.fold_covariance.hold_out, {"e": X[:, 0], "fold": FOLDS}),
    "eigenvalues": (uv.kernels.fold_covariance.eigenvalues, {"sigma_squared": 1.0, "omega": 0.2,
        "gamma": 0.1, "n_obs": 24, "fold_size": 6}),
    "mean_fold_size": (uv.kernels.fold_covariance.mean_fold_size, {"sizes": [3, 4]}),
    "variance_given_rho": (uv.kernels.fold_covariance.variance_given_rho, {"lambda2": 1.0,
        "rho": 0.2, "n_obs": 24, "fold_size": 6}),
    "admissible_variances": (uv.kernels.fold_covariance.admissible_variances, {"lambda1": 0.1,
        "lambda2": 0.2, "n_obs": 24, "fold_size": 6, "width": 1.0}),
    "errors": (uv.kernels.leave_pair_out.errors, {"scores": HAT, "y": Y}),
    "smoother_errors": (uv.kernels.leave_pair_out.smoother_errors, {"hat": HAT,
        "labelings": Y[None]}),
    "nearest_neighbour_errors": (uv.kernels.leave_pair_out.nearest_neighbour_errors,
        {"nearest": NEAREST, "labelings": Y[None]}),
    "complexity_bound": (uv.kernels.permutation.complexity_bound, {"p_in": 0.1, "n_obs": 20,
        "n_minority": 9, "n_drawn": 10, "delta": 0.05, "sampling": "bootstrap"}),
    "effective_degrees": (uv.kernels.permutation.effective_degrees, {"smoother": HAT}),
    "error_bound": (uv.kernels.permutation.error_bound, {"e_in": 0.1, "p_in": 0.1, "n_obs": 20,
        "delta": 0.05}),
    "final_prediction_error": (uv.kernels.permutation.final_prediction_error, {"e_in": 0.1,
        "degrees": 2.0, "n_obs": 20}),
    "generalization": (uv.kernels.permutation.generalization, {"predictions": Y[None],
        "permuted_y": Y[None], "y": Y, "loss": "zero_one"}),
    "leave_one_out": (uv.kernels.permutation.leave_one_out, {"residuals": X[:, 0],
        "leverages": HAT[0]}),
    "smoother_complexity": (uv.kernels.permutation.smoother_complexity, {"mean": 0.0,
        "variance": 1.0, "trace": 2.0, "total": 3.0, "n_obs": 20}),
    "smoother_optimism": (uv.kernels.permutation.smoother_optimism, {"variance": 1.0,
        "trace": 2.0, "total": 3.0, "n_obs": 20}),
    "vc_penalty": (uv.kernels.permutation.vc_penalty, {"e_in": 0.1, "degrees": 2.0, "n_obs": 20}),
}

OTHERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "critical_values": (uv.codes.critical_values, {"alpha": 0.05, "n0": 6, "n1": [5, 6],
        "method": "wmw"}),
    "delsarte_bound": (uv.codes.delsarte_bound, {"n_errors": 1, "n": 12, "weight": 5}),
    "light_code_bounds": (uv.codes.light_code_bounds, {"n_errors": 1, "n": 12, "weight": 5}),
    "residue_class_sizes": (uv.codes.residue_class_sizes, {"n": 9, "weight": 4, "modulus": 7}),
    "spectral_bound": (uv.codes.spectral_bound, {"n_errors": 1, "n": 12, "weight": 5}),
    "supremum_pvalue": (uv.codes.supremum_pvalue, {"n_errors": 1, "n": 12, "weight": 5}),
    "plot_critical_values": (uv.codes.plot_critical_values,
        {"table": uv.codes.critical_values(0.05, [5, 6], [5, 6]), "ax": None}),
    **{f"metrics.{name}": (getattr(uv.metrics, name), given) for name,
        given in {**{averaged: {"average": "macro", "labels": [0]} for averaged in ("f1",
        "precision", "recall", "jaccard")}, "fbeta": {"beta": 2, "average": "macro",
        "labels": [0]}, "kappa": {"weights": "linear"}, "net_benefit": {"threshold": 0.2},
        "partial_auc": {"max_fpr": 0.2}, "harrell": {"tau": 5.0}, "uno": {"tau": 5.0},
        "auc": {"at": 5.0}, "brier": {"at": 5.0}, "integrated_brier": {"times": [1.0, 2.0]},
        "Cells": {"function": np.trace, "limits": (0, 1), "greater_is_better": True},
        "Moments": {"parts": np.add, "function": np.sum, "name": "mine",
        "output": "number"}}.items()},
    "advise": (uv.advise, {"n": 100, "n_fits": 10**5, "loss": "zero_one", "learners": 2,
        "goal": "test", "about": "learner"}),
    **{name: (getattr(uv.designs, name), {"design": RECOGNISED.get(name,
        DESIGN)}) for name in uv.designs.__all__ if name.endswith("_of") and name != "pairs_of"},
    "pairs_of": (uv.designs.pairs_of,
        {"design": uv.designs.Design.from_indices(uv.designs.LeavePairOut().split(X, Y), 24),
        "target": Y}),
    "KFold": (uv.designs.KFold, {"n_folds": 3, "n_repeats": 1, "stratify": True}),
    "RandomSplits": (uv.designs.RandomSplits, {"n_splits": 3, "test_fraction": 0.2,
        "stratify": None}),
    "HoldOut": (uv.designs.HoldOut, {"test_fraction": 0.2, "stratify": False}),
    "DisjointSets": (uv.designs.DisjointSets, {"learn_size": 3, "n_draws": 3, "n_sets": 1}),
    "Losses.from_arrays": (uv.Losses.from_arrays, {"values": TESTED * 1.0, "learning": ~TESTED,
        "testing": TESTED, "learners": ["a"], "loss": "zero_one", "y": Y}),
    "Losses.from_scores": (uv.Losses.from_scores, {"fold_scores": {"a": [0.1, 0.2], "b": [0.3,
        0.1]}, "n_learn": 5, "n_test": 5, "design": "kfold", "n_folds": None,
        "greater_is_better": True}),
    "Design.of_fixed_rules": (uv.designs.Design.of_fixed_rules, {"n_obs": 24}),
    "knn": (uv.learners.knn, {"k": 3}),
    "lda": (uv.learners.lda, {"priors": "empirical"}),
    "qda": (uv.learners.qda, {"priors": "empirical"}),
    "gaussian_nb": (uv.learners.gaussian_nb, {"priors": "empirical"}),
    "majority": (uv.learners.majority, {"tie": "first"}),
    "polynomial": (uv.learners.polynomial, {"degree": 2, "lam": 0.0, "penalize_intercept": False,
        "scale": "sum"}),
    "ridge": (uv.learners.ridge, {"lam": 1.0, "penalize_intercept": False, "scale": "sum"}),
    "kernel_ridge": (uv.learners.kernel_ridge, {"lam": 1.0, "kernel": "rbf", "gamma": 1.0,
        "degree": 3, "coef0": 1, "scale": "sum"}),
    "lasso": (uv.learners.lasso, {"lam": 0.1, "standardize": True, "scale": "mean"}),
    "elastic_net": (uv.learners.elastic_net, {"lam": 0.1, "l1_ratio": 0.5, "max_iter": 9}),
    "logistic": (uv.learners.logistic, {"lam": 0.1, "standardize": True, "max_iter": 9}),
    "cox": (uv.learners.cox, {"lam": 0.1, "ties": "efron", "scale": "sum", "max_iter": 9}),
    "smoother": (uv.learners.smoother, {"matrix": HAT}),
    "hat_matrix": (uv.learners.hat_matrix, {"learner": uv.learners.ridge(1.0), "X": X,
        "learn_size": 22}),
    "knn_leave_p_out": (uv.learners.knn_leave_p_out, {"X": X, "y": Y, "k": 3, "learn_size": 12}),
    "held_out_predictions": (uv.learners.held_out_predictions, {"hat": HAT, "y": X[:, 0],
        "held_out": [[0, 1], [2, 3]]}),
    "matrix_loss": (uv.losses.matrix_loss, {"matrix": [[0, 1], [2, 0]]}),
    "as_loss": (partial(uv.losses.as_loss, has_classes=True), {"loss": "zero_one"}),
    "as_design": (uv.designs.as_design, {"design": 4, "X": X, "y": Y}),
    "TestSpec": (uv.TestSpec, {"test": "corrected_t", "constructor": {}, "fit": {}}),
    "resamples_for_precision": (uv.resamples_for_precision, {"precision": 0.1, "confidence": 0.99,
        "low": -1.0, "high": 1.0}),
    "survival": (uv.survival, {"time": X[:, 0] ** 2, "event": Y}),
}
# fmt: on

RESULT = uv.NaiveTTest.from_losses(LOSSES).fit()
GROUPS = as_groups(np.arange(24) % 12, 24)
RANKED = uv.Losses.from_predictions(
    Y, {"a": X[:, 0], "b": X[:, 1], "c": X[:, 0] + X[:, 1]}, loss="auc"
)
LABELS = uv.Losses.from_predictions(Y, {"a": Y}, metric="f1")
RULES = uv.Losses.from_predictions(Y, {"a": Y[::-1], "b": FOLDS % 2})
JOINT = uv.compare_losses(RANKED, ["delong"])
TOGETHER = uv.compare(
    X,
    Y,
    ["lda", "majority", "nearest_centroid"],
    [uv.TestSpec("ustatistic", fit={"n_pairs": 50}), "hold_out"],
    correction="simultaneous",
    rng=0,
)
PLAN = uv.plan(X, Y, "lda", "majority", difference=0.1, curve=False, rng=0)
COMPARISON = uv.compare(X, Y, ["lda", "knn:3"], ["naive_t"], rng=0)
SELECTION = uv.select_model(X, Y, ["lda", "knn:3"], n_permutations=5, rng=0)
USTATISTIC = uv.UStatisticTest(X, Y, "lda", "knn:3")
KAPPA = USTATISTIC.kappa_profile(n_pairs=20, rng=0)


def sampler(rng, n):
    features = rng.normal(size=(n, 2))
    return features, features.sum(axis=1) + rng.normal(size=n)


NAMED = {
    "DisjointSets": uv.designs.DisjointSets(3, 3),
    "HoldOut": uv.designs.HoldOut(),
    "KFold": uv.designs.KFold(3),
    "NestedKFold": uv.designs.NestedKFold(3, 2),
    "RandomSplits": uv.designs.RandomSplits(3),
    "SplitHalves": uv.designs.SplitHalves(3, 2),
}


class Hook:
    """Listens, and does nothing."""

    logs_to = "nowhere"

    fitting = staticmethod(lambda test: nullcontext())
    fitted = staticmethod(lambda test, result: None)


# fmt: off
METHODS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{f"{kind}.{name}": (getattr(made, name), {"alpha": 0.1} | more) for kind, made,
        named in (("TestResult", RESULT, {"conf_int": {}, "plot": {"ax": None,
        "kind": "interval"}}), ("Comparison", COMPARISON, {"plot": {"ax": None}})) for name,
        more in (named | {"summary": {"with_verdict": True}, "summary_frame": {}}).items()},
    "TestResult.confidence_interval": (RESULT.confidence_interval, {"confidence_level": 0.9}),
    "Comparison.result": (COMPARISON.result, {"test": "naive_t", "learner": "lda",
        "other": COMPARISON.learners[1]}),
    "TestResult.verdict_at": (RESULT.verdict_at, {"alpha": 0.1}),
    "TestResult.equivalence": (RESULT.equivalence, {"low": -0.2, "high": 0.2, "alpha": 0.1}),
    "TestResult.noninferiority": (RESULT.noninferiority, {"margin": 0.1, "alpha": 0.1}),
    "EquivalenceResult.summary": (RESULT.equivalence(-0.2, 0.2).summary, {"with_verdict": True}),
    "NoninferiorityResult.summary": (RESULT.noninferiority(0.1).summary, {"with_verdict": True}),
    "Comparison.best_set": (TOGETHER.best_set, {"alpha": 0.1, "test": "ustatistic"}),
    "Comparison.learner_frame": (TOGETHER.learner_frame, {"alpha": 0.1, "test": "ustatistic"}),
    "Comparison.intervals": (TOGETHER.intervals, {"alpha": 0.1}),
    "Comparison.of_test": (TOGETHER.of_test, {"test": "ustatistic"}),
    "Comparison.joint_test": (JOINT.joint_test, {"test": "delong"}),
    "SamplePlan.plot": (PLAN.plot, {"ax": None, "kind": "power"}),
    "SamplePlan.summary": (PLAN.summary, {"with_verdict": True}),
    "ModelSelection.plot": (SELECTION.plot, {"ax": None}),
    "ModelSelection.regret": (SELECTION.regret, {"errors": [0.1, 0.2]}),
    "KappaProfile.variance": (KAPPA.variance, {"n": 24}),
    "KappaProfile.variance_mc_se": (KAPPA.variance_mc_se, {"n": 24}),
    "cite": (uv.cite, {"result": RESULT}),
    "Losses.difference": (LOSSES.difference, {"learner": 0, "other": 1}),
    "Losses.about": (LABELS.about, {"metric": "mcc"}),
    "Losses.number_of": (LOSSES.number_of, {"learner": "lda"}),
    "Design": (uv.designs.Design, {"learning": ~TESTED, "testing": TESTED}),
    "Design.checked": (uv.designs.Design.checked, {"learning": ~TESTED, "testing": TESTED}),
    "Design.leave_rest_out": (uv.designs.Design.leave_rest_out, {"learning": ~TESTED}),
    "Design.from_indices": (uv.designs.Design.from_indices, {"splits": [([0, 1], [2]), ([1, 2],
        [0])], "n_obs": 3}),
    "NestedKFold": (uv.designs.NestedKFold, {"n_folds": 3, "n_repeats": 2}),
    "SplitHalves": (uv.designs.SplitHalves, {"n_splits": 3, "n_bisections": 2,
        "test_fraction": 0.2}),
    **{f"{name}.check": (made.check, {"n_obs": 24, "groups": GROUPS}) for name,
        made in NAMED.items()},
    "Design.by_groups": (DESIGN.by_groups, {"groups": GROUPS}),
    "Design.check_groups": (DESIGN.check_groups, {"groups": GROUPS}),
    "Design.of_groups": (uv.designs.Design.of_fixed_rules(12).of_groups, {"groups": GROUPS}),
    "TestSpec.of": (uv.TestSpec.of, {"test": "naive_t", "options": {}}),
    "add_hook": (uv.hooks.add_hook, {"hook": Hook()}),
    "bars_by": (uv.hooks.bars_by, {"make_bar": None}),
    "computed_from": (uv.hooks.computed_from, {"variables": pd.DataFrame(X),
        "features": pd.DataFrame(X**2)}),
    "remove_hook": (uv.hooks.remove_hook, {"hook": Hook()}),
    "remove_logging": (uv.hooks.remove_logging, {"logs_to": "nowhere"}),
    "replace_logging": (uv.hooks.replace_logging, {"hook": Hook()}),
    "warn_caller": (uv.hooks.warn_caller, {"message": "something happened",
        "category": uv.UcvtestWarning}),
    "LeavePairOut.get_n_splits": (uv.designs.LeavePairOut().get_n_splits, {"X": X, "y": Y,
        "groups": None}),
    "LeavePairOut.split": (uv.designs.LeavePairOut().split, {"X": X, "y": Y, "groups": None}),
    "LeavePairOutTest.forecast": (uv.LeavePairOutTest(X, Y, "lda").forecast,
        {"n_permutations": 99, "n_jobs": None}),
    "Losses.from_sklearn": (uv.Losses.from_sklearn, {"results": {"a": SKLEARN}, "n_obs": 24,
        "score": "accuracy", "test_score": "test_score", "cv": None, "y": None, "groups": None,
        "pos_label": None, "greater_is_better": None}),
}

WORKING: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Losses.from_predictions": (uv.Losses.from_predictions, {"y": Y, "predictions": {"a": Y,
        "b": 1 - Y}, "loss": "squared", "groups": np.arange(24) // 2, "pos_label": 1}),
    "compare_losses": (uv.compare_losses, {"losses": LOSSES, "tests": ["naive_t"], "baseline": 1,
        "alternative": "less", "correction": "holm"}),
    "StratifiedDesign.draw": (uv.designs.KFold(3, stratify=True).draw, {"n_obs": 24,
        "rng": np.random.default_rng(0), "groups": GROUPS, "strata": Y}),
    **{f"{name}.draw": (made.draw, {"n_obs": 24, "rng": np.random.default_rng(0),
        "groups": GROUPS}) for name, made in NAMED.items()},
    "DeLongTest.joint": (uv.DeLongTest.joint, {"losses": RANKED, "learners": ["a", "c"],
        "group_weight": "group"}),
    "lasso_path": (uv.learners.lasso_path, {"lams": 5, "standardize": True, "scale": "mean",
        "max_iter": 9}),
    "ridge_path": (uv.learners.ridge_path, {"lams": [1.0, 2.0], "penalize_intercept": False,
        "scale": "sum"}),
    "plan": (uv.plan, {"X": X, "y": Y, "learner": "lda", "other": "majority", "difference": 0.2,
        "ratio": None, "width": None, "n": [30, 60], "power": 0.8, "alpha": 0.05, "learn_size": 6,
        "loss": "zero_one", "pos_label": None, "groups": None, "curve": False, "pilot_size": None,
        "n_pilots": None, "rng": 0}),
    "plan of a simulator": (uv.plan, {"X": sampler, "learner": "ridge:1", "other": "ridge:10",
        "difference": 0.2, "loss": "squared", "pilot_size": 12, "n_pilots": 2, "rng": 0}),
    "plan for rules": (uv.plan, {"X": RULES, "learner": "a", "other": "b", "difference": 0.2,
        "n": 30, "alpha": 0.05}),
    "Advice.make": (uv.advise(len(Y), 100).make, {"X": X, "y": Y, "learner": "lda",
        "other": "knn:3"}),
    "compare_variances": (uv.InfluenceFunctionTest(X, Y, "lda").compare_variances,
        {"n_repeats": 2, "schemes": ("monte_carlo",), "rng": 0, "n_jobs": 1, "batch_size": 2}),
    "kappa_profile": (USTATISTIC.kappa_profile, {"c_values": [1], "n_pairs": 20, "rng": 0,
        "n_jobs": 1, "batch_size": 8}),
}

FILES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{f"curves.{name}": (getattr(uv.curves, name), {"y": Y, "predictions": {"a": Y / 2 + 0.25},
        "pos_label": 1, "groups": None, "fold": None, grid: None if grid == "thresholds" else 3,
        "alpha": 0.05, "rng": 0}) for name, grid in {"roc": "thresholds",
        "precision_recall": "thresholds", "decision": "thresholds",
        "calibration": "bins"}.items()},
    "Losses.from_correct": (uv.Losses.from_correct, {"correct": {"a": [True, False] * 12},
        "groups": np.arange(24) // 2}),
    "TestResult.save_plot": (RESULT.save_plot, {"path": "a.png", "alpha": 0.1, "dpi": 50,
        "kind": "interval"}),
    "Comparison.save_plot": (COMPARISON.save_plot, {"path": "a.svg", "alpha": 0.1, "dpi": 50}),
    "ModelSelection.save_plot": (SELECTION.save_plot, {"path": "a.svg", "dpi": 50}),
    "SamplePlan.save_plot": (PLAN.save_plot, {"path": "a.svg", "dpi": 50, "kind": "power"}),
    "Losses.save": (LOSSES.save, {"path": "a.npz"}),
    "Losses.load .npz": (uv.Losses.load, {"path": "losses.npz", "max_bytes": 10**6}),
    "Losses.load .json": (uv.Losses.load, {"path": "losses.json", "max_bytes": 10**6}),
}
# fmt: on
"""Those that name files; the test runs in a folder of its own."""

# fmt: off
WRITTEN: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "TestResult.from_dict": (uv.TestResult.from_dict, RESULT.to_dict()),
    "Comparison.from_dict": (uv.Comparison.from_dict, COMPARISON.to_dict()),
    "Losses.from_dict": (uv.Losses.from_dict, LOSSES.to_dict()),
    **{f"{type(saved).__name__}.from_dict": (type(saved).from_dict,
        saved.to_dict()) for saved in (RESULT.equivalence(-0.2, 0.2), RESULT.noninferiority(0.1),
        JOINT.joint_test(), PLAN, SELECTION)},
    "Comparison.from_dict simultaneous": (uv.Comparison.from_dict, TOGETHER.to_dict()),
}
# fmt: on

RUNS: dict[str, Any] = {
    "predictions": ["a", "b"],
    "table": "eval_results_table.json",
    "y": "target",
    "loss": "auc",
    "groups": "g",
    "pos_label": 1,
}
"""For `Losses.from_mlflow`, but for the run."""

READERS: dict[str, dict[str, Any]] = {
    "from_losses": {"losses": LOSSES, "learner": 0, "other": 1, "alternative": "less"},
    "from_formula": {
        "formula": "y ~ a",
        "data": pd.DataFrame({"y": Y, "a": X[:, 0]}),
        "learner": "lda",
    },
}
"""What all tests can be made from."""

# fmt: off
NOT_CALLED = {
    "UcvtestWarning": "a class of warnings",
    "SlowFitsWarning": "a class of warnings",
    "codes.CodeBounds": "returned by light_code_bounds",
    "codes.known_code_sizes": "no arguments",
    "curves.Band": "returned by curves",
    "curves.Curve": "returned by curves",
    "designs.Design.rows": "an index of NumPy's, whose errors name it",
    "designs.LeavePairOut": "no arguments",
    "designs.NamedDesign": "abstract",
    "hooks.ComparisonHook": "says what others must have",
    "hooks.FitHook": "says what others must have",
    "hooks.LoggingHook": "says what others must have",
    "hooks.OutcomeHook": "says what others must have",
    "hooks.installed_hooks": "no arguments",
    "learners.JittedLearner": "called by the package alone, with what is checked",
    "learners.Learner": "called by the package alone, with what is checked",
    "learners.Predictions": "returned to the package by learners",
    "learners.SplitLearner": "called by the package alone, with what is checked",
    "learners.nearest_centroid": "no arguments",
    "losses.losses_where_tested": "between learners and losses, with a checked sample",
    "Loss": "a record of the user's own function",
    "Advice": "returned by advise",
    "Citations": "returned by cite",
    "Comparison": "returned by compare",
    "EquivalenceResult": "returned by equivalence",
    "JointResult": "returned by joint_test and DeLongTest.joint",
    "KappaProfile": "returned by kappa_profile",
    "Losses": "returned by evaluate, from_arrays and others",
    "ModelSelection": "returned by select_model",
    "ModelSelection.summary": "no arguments",
    "NoninferiorityResult": "returned by noninferiority",
    "SamplePlan": "returned by plan",
    "TestResult": "returned by tests",
    "for_scores": "no arguments",
    "methods_text": "no arguments",
    "summary_frame": "no arguments",
    "to_dict": "no arguments",
    "to_json": "arguments of json.dumps, whose errors name them",
}
# fmt: on
"""Why some are not called here: by their name, their class, or the name of the method."""

UNCALLED_CLASSES = {
    "curves.Curve",
    "designs.NamedDesign",
    "hooks.ComparisonHook",
    "hooks.FitHook",
    "hooks.LoggingHook",
    "hooks.OutcomeHook",
    "learners.JittedLearner",
    "learners.Learner",
    "learners.SplitLearner",
}
"""Whose methods are not called either."""

SNAPSHOT = json.loads((ROOT / "tests/core/promises/public_names.json").read_text())

SMALL = [
    *(None, True, -1, 0, 1, 2, 3, 0.5, -0.5, math.nan, math.inf),
    *(Fraction(1, 20), Decimal("0.05"), np.float32(0.1)),
    *("x", "", b"x", [], {}, (), [1, [2]]),
]
HUGE = [10**7, 10**30, 10**400, 1e300, -1e300, 1e-320]
ARRAYS = [
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.array(1.0),
    np.ones((2, 2)),
    np.full((24, 24), np.nan),
    np.full(24, np.inf),
    np.array(["a", "b"]),
    np.array([object()]),
    np.ones((24, 24, 2)),
    np.ones(24, dtype=complex),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.ma.masked_array([1.0, 2.0], [True, False]),
    -np.ones(24, dtype=int),
    Y,
    X,
    pd.DataFrame(X),
    pd.Series(Y),
    [["x"]],
    object(),
    uv,
    len,
]

SPOOLS = [*SMALL, *HUGE, object(), uv, len]

# Derandomised: the suite has no chance in it, and a failure comes again.
FEW = settings(
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def tried(number: int) -> settings:
    """How many examples: a third of them, and ten times as many with UCVTEST_CELLS=all."""
    return settings(FEW, max_examples=10 * number if all_of_them() else number // 3)


def answered(call: Callable[[], Any], shown: Any) -> Any:
    """What a call returns; None where the package refuses its arguments in its own words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (ValueError, TypeError) as error:
            refused = error
    assert is_own(refused), (shown, refused)
    assert len(str(refused)) > 10, shown
    return None


@st.composite
def arguments(draw: Any, given: dict[str, Any], odd: list[Any]) -> dict[str, Any]:
    """Valid arguments, of which one or two are replaced."""
    changed = draw(st.lists(st.sampled_from(sorted(given)), min_size=0, max_size=2, unique=True))
    return given | {name: odd[draw(st.integers(0, len(odd) - 1))] for name in changed}


def plain_call(
    data: Any,
    table: dict[str, tuple[Callable[..., Any], dict[str, Any]]],
    odd: list[Any] | None = None,
) -> None:
    name = data.draw(st.sampled_from(sorted(table)))
    function, given = table[name]
    chosen = data.draw(arguments(given, odd or [*SMALL, *HUGE, *ARRAYS]))
    answered(lambda: function(**chosen), (name, chosen))


class Bare(BaseEstimator):
    """Declares nothing, and predicts the smallest label."""

    def fit(self, X: Any, y: Any) -> "Bare":
        self.first_ = np.unique(y)[0]
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.first_)


def with_large(values: np.ndarray) -> np.ndarray:
    changed = values.copy()
    changed.flat[3] = 1e300
    return changed


TIMES = np.arange(1.0, 25)
RESPONSES: list[Any] = [
    *(Y + 1, 1 - 2 * Y, Y > 0, np.arange(24) % 3, np.zeros(24), X[:, 0], with_large(X[:, 0])),
    np.zeros(24, dtype=int),
    np.where(Y > 0, "case", "control"),
    np.where(Y > 0, "a\ud800", "b").astype(object),
    pd.Categorical(np.where(Y > 0, "a", "b"), categories=["b", "a"], ordered=True),
    pd.Series(Y, index=np.arange(24)[::-1]),
    [Fraction(each, 2) for each in Y.tolist()],
    np.array(
        [(each > 0, time) for time, each in zip(TIMES, Y, strict=True)],
        dtype=[("event", "?"), ("time", "f8")],
    ),
    np.column_stack([TIMES, Y]),
    pd.to_timedelta(TIMES, unit="D"),
]
LEARNERS: list[Any] = [
    *("majority", "knn:40", "knn:0", "knn:-1", "ridge:1", "ridge:x", "lda:", "nope"),
    LogisticRegression(solver="nope"),
    LogisticRegression(C=0),
    LogisticRegression(l1_ratio=1.0),
    make_pipeline(StandardScaler(with_mean="x"), LogisticRegression()),
    KNeighborsClassifier(algorithm="nope"),
    DummyClassifier(strategy="nope"),
    Ridge(alpha=Decimal(-1)),
    Bare(),
    {"a\ud800": "lda"},
]
MISSPELT = ["random_state", "sample_weight", "alternativ", "los", "scorings", "n_job", "max_second"]
BUDGETS = [7, 40, 399, 1000]

# fmt: off
OPTIONS: dict[str, list[Any]] = {
    "null_value": [*SMALL, *HUGE, *ARRAYS],
    "alternative": [*SMALL, *ARRAYS, "less", "greater"],
    "loss": [*SMALL, *ARRAYS[:-1], "zero_one", "log", "squared", "absolute", "auc", "accuracy",
        [[0, 1], [2, 0]], np.full((3, 3), -1.0)],
    "scoring": [*SMALL, *ARRAYS[:-1], "accuracy", "roc_auc", "f1", "recall", "r2", "neg_log_loss",
        "-accuracy", "neg_root_mean_squared_error", "neg_mean_squared_error"],
    "pos_label": [*SMALL, *ARRAYS, "case", "control", Fraction(1, 2)],
    "groups": [*ARRAYS, np.arange(24) // 2],
    "backend": [*SMALL, *ARRAYS, "jax"],
    "y": [*SMALL, *ARRAYS, *RESPONSES, np.arange(24) < 2],
    "X": [*SMALL, *ARRAYS, np.zeros((24, 2)), X * 1e200, X * 1e-200, with_large(X),
        np.repeat(X[:2], 12, axis=0), pd.DataFrame(X, columns=["a", "b"])],
    "learner": [*SMALL, *ARRAYS, *LEARNERS],
    "learners": [*SMALL, *ARRAYS, *([each, "lda"] for each in LEARNERS)],
    "n_pairs": [*SMALL, *ARRAYS, *BUDGETS],
    "max_fits": [*SMALL, *ARRAYS, *BUDGETS],
    "max_seconds": [None, 1e-3, 0.01, 1e-9, 0, -1, Fraction(1, 100), *ARRAYS],
    "rng": [*SMALL, *ARRAYS],
    "n_jobs": [None, 0, 1.5, "x", *ARRAYS],
    "batch_size": [None, 0, 1.5, 1, 3, "x", *ARRAYS],
    "progress": [False],
}
# fmt: on
"""What replaces arguments of tests; other options take all small values."""

WORK = {
    "influence": {"n_repeats": 20},
    "leave_pair_out": {"n_permutations": 9},
    "permutation": {"n_permutations": 9},
    "ustatistic": {"n_pairs": 20},
}


def written_call(data: Any) -> None:
    """What was written to a dictionary, and changed since."""
    name = data.draw(st.sampled_from(sorted(WRITTEN)))
    read, given = WRITTEN[name]
    odd = [*SMALL, *HUGE, *ARRAYS]
    chosen: Any = data.draw(arguments(given, odd))
    for lost in data.draw(st.lists(st.sampled_from(sorted(given)), max_size=1)):
        del chosen[lost]
    whole = data.draw(st.sampled_from([chosen, damaged(data, given)] * 9 + odd))
    answered(lambda: read(whole), (name, whole))


def damaged(data: Any, value: Any) -> Any:
    """One field at any depth is another one."""
    if isinstance(value, dict | list) and value and data.draw(st.sampled_from([True, True, False])):
        named = isinstance(value, dict)
        changed: Any = dict(value) if named else list(value)
        place = data.draw(
            st.sampled_from(sorted(changed, key=str) if named else [*range(len(changed))])
        )
        changed[place] = damaged(data, changed[place])
        return changed
    odd = [*SMALL, [1, "a"], {"float": "x"}, {"a": {}}]
    return odd[data.draw(st.integers(0, len(odd) - 1))]


def read_call(data: Any) -> None:
    name, kind = (data.draw(st.sampled_from(sorted(table))) for table in (TESTS, READERS))
    cls: Any = TESTS[name]
    known = READERS[kind]
    if "other" not in inspect.signature(cls.__init__).parameters and kind == "from_losses":
        known = {"losses": LOSSES, "learner": 0}
    chosen = data.draw(arguments(known, [*SMALL, *HUGE, *ARRAYS]))
    answered(lambda: getattr(cls, kind)(**chosen), (name, kind, chosen))


def fitted_call(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(TESTS)))
    cls: Any = TESTS[name]
    made = {"X": X, "y": Y, "learner": "lda"} | ({"other": "knn:3"} if cls.needs.compares else {})
    fit: dict[str, Any] = {"rng": 0, **WORK.get(name, {})}
    for where, call, most in ((made, cls.__init__, 2), (fit, cls.fit, 1)):
        named = sorted(set(inspect.signature(call).parameters) - {"self", "progress"})
        for option in data.draw(st.lists(st.sampled_from(named), max_size=most, unique=True)):
            odd = OPTIONS.get("learner" if option == "other" else option, [*SMALL, *ARRAYS])
            where[option] = odd[data.draw(st.integers(0, len(odd) - 1))]
    result = answered(lambda: cls(**made).fit(**fit), (name, made, fit))
    if result is not None:
        check_result(result, (name, made, fit))


def check_result(result: uv.TestResult, shown: Any) -> None:
    if result.status == "ok":
        assert not math.isnan(result.estimate), shown
        needs_pvalue = not math.isnan(result.null_value) and result.posterior is None
        if needs_pvalue and result.reference != "none":
            assert not math.isnan(result.pvalue), shown
    written = uv.TestResult.from_dict(json.loads(result.to_json()))
    assert written.to_json() == result.to_json(), shown
    assert pickle.loads(pickle.dumps(result)) == result, shown
    assert str(result), shown
    assert result.summary().as_html(), shown


def compared_call(data: Any) -> None:
    """The functions that take learners and data."""
    name = data.draw(st.sampled_from(["compare", "evaluate", "select_model"]))
    given: dict[str, Any] = {"X": X, "y": Y, "learners": ["lda", "knn:3"], "rng": 0}
    if name == "compare":
        given["tests"] = ["naive_t", "mcnemar"]
    elif name == "evaluate":
        given["design"] = 4
    else:
        given["n_permutations"] = 5
    function: Any = getattr(uv, name)
    skipped = {"progress", "n_jobs"}
    known = sorted({*inspect.signature(function).parameters, *MISSPELT} - skipped)
    for option in data.draw(st.lists(st.sampled_from(known), max_size=2, unique=True)):
        odd = OPTIONS.get(option, [*SMALL, *ARRAYS])
        given[option] = odd[data.draw(st.integers(0, len(odd) - 1))]
    found = answered(lambda: function(**given), (name, given))
    if found is None:
        return
    assert pickle.loads(pickle.dumps(found)) is not None
    if name == "compare":
        assert json.loads(found.to_json())
        for result in found.results.values():
            check_result(result, given)
    elif name == "evaluate":
        assert json.dumps(found.to_dict(), allow_nan=False)


def predicted_call(data: Any) -> None:
    """Rules by their predictions, judged by some test."""
    given: dict[str, Any] = {"y": Y, "a": Y[::-1], "b": X[:, 0], "loss": "zero_one"}
    odd = {**OPTIONS, "a": OPTIONS["y"], "b": [Y, *RESPONSES, np.abs(X[:, 0]) % 1]}
    for option in data.draw(st.lists(st.sampled_from(["pos_label", *given]), max_size=3)):
        given[option] = odd[option][data.draw(st.integers(0, len(odd[option]) - 1))]
    rules, test = (
        {name: given.pop(name) for name in "ab"},
        data.draw(st.sampled_from(sorted(TESTS))),
    )

    def judged() -> Any:
        losses = uv.Losses.from_predictions(predictions=rules, **given)
        return uv.compare_losses(losses, [test])

    found = answered(judged, (test, rules, given))
    for result in found.results.values() if found else ():
        check_result(result, (test, rules, given))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("losses.npz", "losses.json"):
        LOSSES.save(name)


@pytest.fixture
def no_hooks(monkeypatch):
    monkeypatch.setattr("ucvtest.hooks._hooks", [])


@pytest.fixture
def run_id(tmp_path, monkeypatch):
    """A run with a table of predictions in a store of its own."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    # Files need no migrations, which take ten seconds.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    table = pd.DataFrame({"target": Y, "a": X[:, 0], "b": X[:, 1], "g": np.arange(24) // 2})
    with mlflow.start_run(run_name="rules") as run:
        mlflow.log_table(table, RUNS["table"])
    yield run.info.run_id
    mlflow.set_tracking_uri(None)


def read_from_mlflow(data: Any, run_id: str) -> None:
    from mlflow.exceptions import MlflowException

    given = {"run_id": run_id, **RUNS}
    # What is not there is MLflow's to refuse, with its name; a function's errors are its own.
    with suppress(MlflowException):
        plain_call(data, {"from_mlflow": (uv.Losses.from_mlflow, given)}, [*SMALL, *ARRAYS[:-1]])


@tried(300)
@given(st.data())
def test_kernels(data):
    plain_call(data, KERNELS)


@tried(300)
@given(st.data())
def test_codes_designs_and_the_rest(data):
    plain_call(data, OTHERS)


@tried(100)
@given(st.data())
def test_tests(data):
    fitted_call(data)


@tried(60)
@given(st.data())
def test_comparisons(data):
    compared_call(data)


@tried(100)
@given(st.data())
def test_rules(data):
    predicted_call(data)


@pytest.mark.usefixtures("no_hooks")
@tried(200)
@given(st.data())
def test_methods(data):
    plain_call(data, METHODS)
    pyplot.close("all")


@tried(100)
@given(st.data())
def test_simulations_and_what_draws(data):
    # No huge numbers, which only ask for work; a function's errors are its own.
    plain_call(data, WORKING, [*SMALL, *ARRAYS[:-1]])


@pytest.mark.usefixtures("folder")
@tried(80)
@given(st.data())
def test_files(data):
    # What is not there is Python's to refuse, with its name.
    with suppress(FileNotFoundError):
        plain_call(data, FILES, [*SMALL, *HUGE, *ARRAYS, "b.PDF", "b.json", "b.doc"])


@tried(100)
@given(st.data())
def test_dictionaries(data):
    written_call(data)


@tried(80)
@given(st.data())
def test_losses_and_formulas(data):
    read_call(data)


@pytest.mark.usefixtures("folder", "no_hooks")
@tried(40)
@given(st.data())
def test_autolog(data):
    pytest.importorskip("mlflow")
    given = {"spool_dir": "spool", "log_plots": True, "nested": False, "silent": True}
    plain_call(data, {"autolog": (uv.autolog, given)}, SPOOLS)


@pytest.mark.filterwarnings("ignore")
@tried(30)
@given(st.data())
def test_mlflow_tables(run_id, data):
    read_from_mlflow(data, run_id)


@pytest.mark.usefixtures("folder", "no_hooks")
@pytest.mark.filterwarnings("ignore")
def test_arguments_are_valid_before_some_are_replaced():
    # Otherwise the first refusal would hide what is asked for.
    for table in (KERNELS, OTHERS, METHODS, WORKING, FILES, WRITTEN):
        for function, valid in table.values():
            if table is WRITTEN:
                function(valid)
            else:
                function(**valid)
    pyplot.close("all")


def test_every_public_callable_is_called():
    tables = (KERNELS, OTHERS, METHODS, WORKING, FILES, WRITTEN)
    functions = [function for table in tables for function, _ in table.values()]
    functions += [uv.compare, uv.evaluate, uv.select_model, uv.autolog, uv.Losses.from_mlflow]
    for cls in TESTS.values():
        functions += [cls, cls.fit, *(getattr(cls, name) for name in READERS)]
    # A method of an instance, and a function with some of its arguments.
    bare = {getattr(each, "func", getattr(each, "__func__", each)) for each in functions}
    missing = []
    for name, signature in SNAPSHOT.items():
        if not signature.startswith("(") and signature != "class":
            continue
        value = reduce(getattr, name.split("."), uv)
        owner, _, method = name.rpartition(".")
        whys = {name, method, owner if owner in UNCALLED_CLASSES else name}
        if getattr(value, "__func__", value) not in bare:
            missing.append((name, whys & NOT_CALLED.keys()))
    assert [name for name, excused in missing if not excused] == []
    assert set().union(*(excused for _, excused in missing)) == NOT_CALLED.keys()
