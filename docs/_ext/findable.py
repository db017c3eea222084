"""What people type into the search, and the page or section that answers.

The search puts main entries of the index first. `docs/check_search.py` tries it in the built pages.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

WORDS: dict[str, tuple[str, ...]] = {
    "choose/index": ("which test", "choose a test", "decision tree"),
    "choose/levels": ("significance level", "alpha", "multiple testing"),
    "choose/metrics": ("f1", "mcc", "metric", "metrics", "r2", "rmse", "precision", "multiclass"),
    "choose/one-sided": ("one-sided", "alternative"),
    "methods/bayesian_t": ("bayes", "bayesian", "posterior", "rope"),
    "methods/corrected_t": ("t test", "t-test", "paired t test", "corrected t test", "nadeau"),
    "methods/delong": ("delong", "correlated roc curves"),
    "methods/diebold_mariano": ("time series", "forecast"),
    "methods/hold_out": ("hold-out test", "single split"),
    "methods/five_by_two_t": ("5x2", "5x2cv"),
    "methods/mcnemar": ("mcnemar", "mcnemar's test"),
    "methods/nested_cross_validation": ("nested cross-validation",),
    "methods/permutation": ("permutation test", "overfitting", "model complexity"),
    "mlflow/index": ("mlflow", "tracking", "autolog"),
    "r/index": ("r", "r package", "caret", "tidymodels", "mlr3"),
    "reference/learners": ("learner", "learners", "model names"),
    "start/index": ("install", "pip", "installation", "conda"),
    "start/result": (
        "confidence interval",
        "confidence intervals",
        "interval",
        "p-value",
        "p value",
        "summary",
    ),
    "start/result#a-difference-that-is-not-significant": (
        "equivalence",
        "tost",
        "not significant",
    ),
    "start/result#for-your-paper": ("cite", "latex", "methods section"),
    "start/shell": ("command line", "shell", "terminal", "cli"),
    "start/u-statistic": ("u-statistic", "u statistic"),
    "tutorials/anything-to-learn": ("better than chance", "signal", "leave-pair-out"),
    "tutorials/auc": ("auc", "roc auc", "small sample"),
    "tutorials/ask-again": ("ledger", "reused holdout", "adaptive", "many asks", "alpha spending"),
    "tutorials/curves": ("roc curve", "calibration curve", "decision curve", "precision-recall"),
    "tutorials/fit-once": (
        "cross-validation",
        "cross validation",
        "cross_validate",
        "cross_val_score",
        "cv",
    ),
    "tutorials/gate": (
        "noninferiority",
        "non-inferiority",
        "margin",
        "ci",
        "github actions",
        "gate",
    ),
    "tutorials/groups": ("groups", "clusters", "repeated measures", "patients"),
    "tutorials/how-many": ("sample size", "power", "how many", "pilot"),
    "tutorials/many-learners": (
        "best model",
        "model comparison",
        "multiple comparisons",
        "many models",
    ),
    "tutorials/own-learner": ("own model", "custom learner", "pytorch", "function"),
    "tutorials/predictions": ("predictions", "test set", "two models", "hold-out"),
    "tutorials/right-or-wrong": ("llm", "accuracy", "right or wrong", "proportion"),
    "tutorials/slow-learners": ("slow", "parallel", "random forest", "n_jobs"),
    "tutorials/survival": (
        "survival",
        "cox",
        "cox regression",
        "censoring",
        "c-index",
        "concordance",
    ),
    "tutorials/tables#missing-values": ("missing values", "missing", "nan", "imputation"),
    "tutorials/tables#categorical-columns": ("categorical", "one-hot", "text columns"),
    "tutorials/tables#excel-json-and-other-files": ("excel", "csv", "json", "parquet", "file"),
    "tutorials/tables": ("pandas", "polars", "data frame"),
    "tutorials/two-learners": ("paired", "compare", "compare two models", "two classifiers"),
    "tutorials/weights": ("weights", "sample weights", "sample_weight", "survey"),
    "validation/calibration": ("coverage", "calibration study", "type i error"),
    "validation/limitations": ("limitations", "assumptions"),
    "validation/speed": ("speed", "benchmark", "running time"),
}
"""A page, or a page and the anchor of a section; the words come first in its results."""


class Findable(SphinxTransform):
    """Adds the words to the index, before the index is read."""

    default_priority = 800

    def apply(self, **_: Any) -> None:
        """Put an entry into each section that has words."""
        sections = list(self.document.findall(nodes.section))
        for place, words in self.config.findable_words.items():
            page, _, anchor = place.partition("#")
            if page != self.env.docname:
                continue
            found = [each for each in sections if not anchor or anchor in each["ids"]]
            if not found:
                logging.getLogger(__name__).warning("findable: no section %s", place)
                continue
            target = found[0]["ids"][0] if anchor else ""
            entries = [("single", word, target, "main", None) for word in words]
            found[0].insert(1, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx of it; pages are read again when the words change."""
    app.add_config_value("findable_words", WORDS, "env")
    app.add_transform(Findable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
