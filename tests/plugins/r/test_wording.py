"""What R users read: nothing of Python's names, values and counting."""

import ast
import re
from collections.abc import Iterator

import pytest
from ucvtest_r.wording import in_r, r_names

from tests.support.paths import ROOT
from ucvtest.data.sample import taken_for_classes
from ucvtest.methods.registry import TESTS

PYTHON_ALONE = (
    r"(?<![\w.])(?:fit|compare|evaluate)\(|\buv\.|\bLosses\.(?!save|to_dict)|"
    r"\bfrom_(?:losses\(|arrays|scores|predictions|sklearn)|\bpos_label\b|"
    r"(?<!the same )\b[a-z_]\w+=(?=[\s,:;.)]|$)"
)
"""Words of Python that mean nothing in R."""


def messages() -> Iterator[str]:
    """Texts of errors, warnings and notes, with x for what is filled in."""
    for path in sorted((ROOT / "ucvtest").rglob("*.py")):
        if "cli" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        parents = {id(each): node for node in ast.walk(tree) for each in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            # Neither docstrings nor parts of f-strings, which are seen as a whole.
            if isinstance(parents.get(id(node)), (ast.Expr, ast.JoinedStr, ast.FormattedValue)):
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                parts = (getattr(part, "value", None) for part in node.values)
                yield "".join(part if isinstance(part, str) else "x" for part in parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "learner mine failed on split 0: ValueError: it returned 3 predictions",
            "learner mine failed on split 1: it returned 3 predictions",
        ),
        ("use uv.designs.KFold(5), or loss='squared'", 'use k_fold(5), or loss = "squared"'),
        (
            "use scheme='monte_carlo', 'repeated', or 'loo', not 'other' of x='a=b'",
            'use scheme = "monte_carlo", "repeated", or "loo", not \'other\' of x = "a=b"',
        ),
        ("design must be one of uv.designs.HoldOut", "design must be one of hold_out()"),
        ("uv.compare(X, y) does", "compare_learners(x, y) does"),
        ("use NaiveTTest to compare", "use naive_t_test() to compare"),
        ("one of r2, ccc, or uv.metrics.Cells", "one of r2, ccc"),
        (
            "such as uv.metrics.fbeta(2), your own by uv.metrics.Cells or uv.metrics.Moments, or x",
            'such as "fbeta(2)", or x',
        ),
        ("an average, such as uv.metrics.f1('macro')", 'an average, such as metric = "f1_macro"'),
        ("use McNemarTest, got None", "use mcnemar_learners_test(), got NULL"),
        ("uv.learners.lda() or uv.learners.ridge(1.0)", '"lda" or "ridge:1.0"'),
        (
            "or a callable (X_train, y_train, X_test) -> predictions, got True",
            "or a function(x, y, xnew), got TRUE",
        ),
        ("use learn_size=(17, 11), got (5, 60)", "use learn_size = c(17, 11), got c(5, 60)"),
        ("max_seconds=2 does not suffice", "max_seconds = 2 does not suffice"),
        (
            "use one of f1, or a scorer from sklearn.metrics.make_scorer",
            "use one of f1, or a function(truth, prediction)",
        ),
        (
            'use TestSpec("ustatistic", fit={"max_seconds": ...})',
            'use list("ustatistic", max_seconds = )',
        ),
        ("predictions['a'] holds 'x'", "predictions$a holds 'x'"),
        (
            "compare(max_seconds=) takes it, fit(max_seconds=) ends in time, n_jobs= shares",
            "compare_learners(max_seconds = ) takes it, max_seconds = of a test ends in time, "
            "n_jobs = shares",
        ),
        (
            "use uv.evaluate, Losses.from_arrays, or from_predictions(sample_weight=)",
            "use evaluate_learners(), as_losses(), or prediction_losses(sample_weight = )",
        ),
        ("pass null_value= to the test", "pass null_value = to the test"),
        ("pass rope= to fit, and read", "pass rope = to the test, and read"),
        (
            "labels 1.0 and 2.0 do not say; pass pos_label=2.0 if high values mean 2.0",
            "labels 1 and 2 do not say; pass positive = 2 if high values mean 2",
        ),
        ("X holds nan in column 'X', None of them", "x holds nan in column 'X', None of them"),
    ],
)
def test_messages_in_the_language_of_r(text, expected):
    assert in_r(text) == expected


def test_whole_numbers_as_a_response_in_the_language_of_r():
    with pytest.raises(ValueError) as error:
        taken_for_classes(range(30))
    assert in_r(str(error.value)) == (
        'y holds 30 different whole numbers in 30 observations: pass loss = "squared" or '
        '"absolute" if they are amounts, loss = "zero_one" or factor(y) if they are labels'
    )


def test_no_message_tells_r_users_of_pythons_functions_and_arguments():
    # A sentence has spaces; what has a line break is code.
    sentences = {text for text in messages() if text.count(" ") > 2 and "\n" not in text}
    assert len(sentences) > 1000
    found = [in_r(text) for text in sorted(sentences)]
    python = [text for text in found if re.search(PYTHON_ALONE, text)]
    assert python == []


def test_every_function_that_is_named_is_exported():
    exported = (ROOT / "r_bridge" / "ucvtest" / "NAMESPACE").read_text()
    assert [name for name in r_names().values() if f"export({name})" not in exported] == []


def test_every_test_and_design_that_r_has_is_named():
    designs = (ROOT / "r_bridge" / "ucvtest" / "R" / "designs.R").read_text()
    made = re.findall(r'new_design\("(\w+)"', designs)
    assert len(made) > 5
    assert {cls.__name__ for cls in TESTS.values()} | set(made) <= r_names().keys()
