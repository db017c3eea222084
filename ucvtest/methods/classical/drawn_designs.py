"""The design that a test draws by itself: as a user names it, and what it cannot be."""

from typing import Any

import numpy as np

from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.problem import check_two_classes
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.metrics.names import wants_every_class


def scheme_of(question: DataQuestion, design: Any, cv: Any, default: NamedDesign) -> NamedDesign:
    """The design or splitter to draw: named by the user, or the test's default."""
    sample, has_classes = question.sample, question.sample.n_classes > 0
    if question.metric.ranks_pairs:
        check_two_classes(sample)
    design_or_splitter = design_or_cv(
        design,
        cv,
        sample.response,
        has_classes=has_classes,
        n_dropped=question.n_dropped,
        groups=sample.groups,
    )
    # The sample's own copies, so that data that change later do not change the splits.
    return as_design(
        default if design_or_splitter is None else design_or_splitter,
        sample.features,
        sample.response,
        auc=wants_every_class(question.metric, has_classes=has_classes),
        groups=question.problem.given_groups,
    )


def refuse_single_classes(question: Question, scheme: NamedDesign, drawn_design: Design) -> None:
    """Refuse test sets without one of two classes, which have no AUC."""
    codes, testing = question.target, drawn_design.testing
    lacking = [~testing[:, codes == code].any(axis=1) for code in (0, 1)]
    if not np.any(lacking):
        return
    code = int(np.any(lacking[1]))
    label = np.asarray(question.data("a design").sample.classes).tolist()[code]
    fewest = int(min((codes == code).sum() for code in (0, 1)))
    try:
        n_folds = int(folds_of(drawn_design).max()) + 1
    except ValueError:
        n_folds = 0
    another_loss = "a loss that does not need two classes, such as loss='zero_one'"
    if fewest < 2:
        remedy = f"use {another_loss}: the smaller class has a single observation"
    elif getattr(scheme, "stratify", None) and n_folds <= fewest:
        remedy = f"use another design, with larger test sets, or {another_loss}"
    else:
        limit = f" with at most {fewest} folds" if n_folds > fewest else ""
        ours = "(uv.designs are stratified for the AUC unless stratify=False)"
        remedy = f"use a stratified design{limit} {ours}, or {another_loss}"
    raise ValueError(
        f"design ({scheme.words}) has {int(lacking[code].sum())} test sets without the "
        f"label {label!r}, which have no AUC: {remedy}"
    )
