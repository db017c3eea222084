"""What R users read: nothing of Python's names, values and counting."""

import ast
import re
from collections.abc import Iterator

import pytest
from ucvtest_r.wording import in_r, r_names

from tests.support.paths import ROOT
from ucvtest.data.class_order import ORDERED_CLASSES
from ucvtest.data.sample import taken_for_classes
from ucvtest.methods.registry import TESTS

PYTHON_ALONE = (
    r"(?<![\w.])(?:fit|compare|evaluate)\(|\buv\.|\bLosses\.(?!save|to_dict)|"
    r"\bfrom_(?:losses\(|arrays|scores|predictions|sklearn)|\bpos_label\b|"
    r"(?<!the same )\b[a-z_]\w+=(?=[\s,:;.)]|$)"
)
"""Words of Python that mean nothing in R."""


PYTHON_OBJECTS = (
    r"\.astype|scikit|sklearn|\bnp\.|[Nn]umpy|[Pp]andas|DataFrame|\bdict\b|"
    r"\btuple|\bcallable|ndarray|"
    r"\b[A-Z]\w+Error\b|\bPython names|estimator\.|\ban? estimator\b(?! of)|"
    r"\bNone\b(?! of)|\bTrue\b|"
    r"\bFalse\b|lambda x|\w=-\d|"
    r"\w=\[|dtype|pickle|joblib|\.loc\b|\.to_|predict_proba|\[:, |\brng\b|"
    r"sample_weight|splitter|\bmapping\b|\battribute\b|\bX\b|x\.reshape|toarray|multiprocessing|"
    r"\bof type float|\blearn_sizes\b|\{'|Losses|\b(?!McNemar|DeLong)[A-Z][a-z]+[A-Z]\w+"
)
"""Objects of Python's packages, its values and its types."""

FROM_0 = r"\b(?:row|split|observation|place) 0\b|\b(?:numbers|place|position|numbered) from 0\b"
"""Counting as Python does, where 0 is filled in."""

NOT_REACHED = {
    "cli": "the shell",
    "curves": "R has no curves",
    "mlflow": "R has autolog() alone",
    "kernels": "functions of arrays, which R does not call",
    "data/files.py": "R reads files itself",
    "data/formula.py": "R reads formulas itself",
    "data/frames.py": "R finds columns by their names itself",
    "learners/adapters/early_stops.py": "of estimators that are given",
    "learners/adapters/estimators.py": "of estimators that are given",
    "learners/adapters/backends.py": "of estimators that are given",
    "learners/adapters/translation.py": "of estimators that are given",
    "hooks.py": "R has no hooks",
    "losses/files.py": "R has no files of losses",
    "losses/from_sklearn.py": "R has as_losses() for its own packages",
    "learners/closed_forms": "learners ask for what they need",
    "metrics/own.py": "R has metrics by name",
}
"""Files whose messages R users never see, and why."""

REFUSED_BY_R = (
    r"module '|"
    # What R reads is numbers, labels or Surv(), in one table without an index.
    r"read another sheet by|read it by pandas|rows numbered in another order|"
    r"in the order of time \(|"
    r"rows are matched by position|contains durations as texts|a tuple for each observation|"
    r"contains dates or times, which are not numbers|is a sparse matrix|"
    r"has columns that are not numeric|"
    r"must have two dimensions|needs a row of features for each observation|"
    r"whose labels are sorted|"
    r"must map names to columns|fold is a DataFrame|"
    r"pass a DataFrame with columns, and rows of costs|written by Losses\.|"
    # R asks for its own designs, tests and types, and draws the seeds.
    r"design must be a Design|design=.* is unknown|design 0 is unknown|cv=|cv is|array of bool|"
    r"strata must be|rng must|must be a mapping|must be a Loss\b|function must be callable|"
    r"randomness is decided by|rows are weighted by|n_jobs must not be|splits must be pairs|"
    r"n_jobs= distributes|start processes by the method|"
    # R's weights go to fits alone; na.action decides about missing values.
    r"cannot weight rows in fitting|fits without weights|missing='drop'|"
    r"scoring asks for sample_weight|"
    r"and these losses are weighted|"
    # Learners and losses are names, or functions of R.
    r"has fit but no get_params|learner must be a scikit-learn|is scikit-learn's function|"
    r"is neither the name of a score nor a scorer|uses X, but scores are|asks? the estimator for|"
    r"a vectorizer|data must be a pandas|"
    r"y is missing: pass the responses, a sampler|a learner with a name is \{'|must be uv\.Losses|"
    r"result must be a TestResult|"
    # What nobody reads: of pictures, interrupts, files, and what only this package gets wrong.
    r"FunctionOfMeans|is not a JittedLearner|"
    r"^Losses\(|is not a .* written by|except KeyboardInterrupt|"
    r"category must be a class|variables and features must|groups must be numbered"
)
"""Messages of other files for what R refuses itself, in its own words, or cannot ask for."""


def messages(filled: str = "x", *, reached: bool = False) -> Iterator[str]:
    """Texts of errors, warnings and notes, with a word for what is filled in."""
    package, bridge = ROOT / "ucvtest", ROOT / "r_bridge" / "ucvtest_r"
    of_bridge = [
        bridge / f"{name}.py" for name in ("conversion", "functions", "learners", "reading")
    ]
    for path in sorted(package.rglob("*.py")) + of_bridge:
        place = path.name if path in of_bridge else path.relative_to(package).as_posix()
        if "cli" in path.parts or (reached and place.startswith(tuple(NOT_REACHED))):
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
                yield "".join(part if isinstance(part, str) else filled for part in parts)


def sentences(filled: str = "x", *, reached: bool = False) -> list[str]:
    """Messages of more than three words: a sentence has spaces, and a line break is code."""
    found = set(messages(filled, reached=reached))
    return sorted(text for text in found if text.count(" ") > 2 and "\n" not in text)


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
        ("null_value=-1 is not a value", "null_value = -1 is not a value"),
        ("max_seconds=2 does not suffice", "max_seconds = 2 does not suffice"),
        (
            "use one of f1, or a scorer from sklearn.metrics.make_scorer",
            "use one of f1, or a function(truth, prediction)",
        ),
        (
            'use TestSpec("ustatistic", fit={"max_seconds": ...})',
            'use list("ustatistic", max_seconds = )',
        ),
        ("predictions['a'] contains 'x'", "predictions$a contains 'x'"),
        (
            "compare(max_seconds=) takes it, fit(max_seconds=) ends in time, n_jobs= shares",
            "compare_learners(max_seconds = ) takes it, max_seconds = of a test ends in time, "
            "n_jobs = shares",
        ),
        (
            "use uv.Losses.from_predictions(y, scores, metric='f1')",
            'use prediction_losses(y, scores, metric = "f1")',
        ),
        (
            "use uv.evaluate, Losses.from_arrays, or from_predictions(sample_weight=)",
            "use evaluate_learners(), as_losses(), or prediction_losses(weights = )",
        ),
        (
            "split 0 of the design must hold row numbers from 0 to 9 (n_obs = 10)",
            "split 1 of the design must hold row numbers from 1 to 10 (n_obs = 10)",
        ),
        ("Column 0 of X determines the response", "Column 1 of x determines the response"),
        ("Columns 0, 3, 5 and 2 more of X determine", "Columns 1, 4, 6 and 2 more of x determine"),
        ("rows, leaving out column 0, 2; 3 would", "rows, leaving out column 1, 3; 3 would"),
        ("X contains nan at row 2, column 0 (3 such", "x contains nan at row 3, column 1 (3 such"),
        (
            "learner a predicts nan on split 3 for observation 4: use a smaller penalty",
            "learner a predicts nan on split 4 for observation 5: use a smaller penalty",
        ),
        (
            "'lad' is not right: use ridge, knn or a scikit-learn regressor",
            "'lad' is not right: use ridge, knn or a regression such as \"stats::lm\"",
        ),
        (
            "predictions go to 3: pass predict_proba(X)[:, 1], or use loss='auc'",
            'predictions go to 3: pass predict(fit, xnew, type = "prob")[, 2], or use loss = "auc"',
        ),
        ("pass null_value= to the test", "pass null_value = to the test"),
        ("pass rope= to fit, and read", "pass rope = to the test, and read"),
        (
            "labels 1.0 and 2.0 do not say; pass pos_label=2.0 if high values mean 2.0",
            "labels 1 and 2 do not say; pass positive = 2 if high values mean 2",
        ),
        ("X contains nan in 'X', None of them", "x contains nan in 'X', None of them"),
        ("not one of the labels 1.0, 2.0", "not one of the labels 1, 2"),
        (
            "the labels of y are -1.0, 1.0: pass labels, for example from p > 0.5",
            "the labels of y are -1, 1: pass labels, for example from as.integer(p > 0.5)",
        ),
        (
            "for example from np.where(p > 0.5, 'very ill', 'well'), or",
            "for example from ifelse(p > 0.5, 'very ill', 'well'), or",
        ),
        (
            "groups names one group only (1.0): at least two are needed",
            "groups names one group only (1): at least two are needed",
        ),
        (
            "fold_scores['a'] has nan for split 1: a fit failed (see error_score='raise'), or no",
            "scores$a has NA for split 2: a fit failed, or no",
        ),
        (
            "use uv.Losses.from_predictions(y, scores, metric='f1') with uv.HoldOutTest",
            'use prediction_losses(y, scores, metric = "f1") with hold_out_test()',
        ),
        (
            "use Losses.from_predictions(None, ..., loss='score'), with groups=question",
            'use prediction_losses(NULL, ..., loss = "score"), with groups = question',
        ),
        (
            "labels names 2 classes, but average='binary' is about one: name one class, or",
            "it names 2 classes, and without an average it is about one: name one, or an average, "
            'as in \'f1_macro["a","b"]\'',
        ),
        (
            "predictions['a'] must have a column for each of 3 classes in the order of the sorted "
            "labels, as predict_proba returns them, got shape (60,)",
            "predictions$a must have a column for each of 3 classes in the order of the levels, "
            "got 60 values: pass a matrix in a list, such as list(a = p)",
        ),
        (
            f"declare the place of 'other'; {ORDERED_CLASSES}",
            "declare the place of 'other'; give the labels as numbers in y and predictions, or "
            "pass y as factor(y, levels = , ordered = TRUE)",
        ),
        (
            "error rate of this rule (positive class 1.0)",
            "error rate of this rule (positive class 1)",
        ),
    ],
)
def test_messages_in_the_language_of_r(text, expected):
    assert in_r(text) == expected


def test_whole_numbers_as_a_response_in_the_language_of_r():
    with pytest.raises(ValueError) as error:
        taken_for_classes(range(30))
    assert in_r(str(error.value)) == (
        'y contains 30 different whole numbers in 30 observations: pass loss = "squared" or '
        '"absolute" if they are amounts, loss = "zero_one" or factor(y) if they are labels'
    )


def test_no_message_tells_r_users_of_pythons_functions_and_arguments():
    found = sentences()
    assert len(found) > 1000
    assert [text for text in map(in_r, found) if re.search(PYTHON_ALONE, text)] == []


def test_no_message_that_r_users_see_is_about_objects_of_python():
    seen = [text for text in sentences(reached=True) if not re.search(REFUSED_BY_R, text)]
    assert len(seen) > 1000
    assert [text for text in map(in_r, seen) if re.search(PYTHON_OBJECTS, text)] == []


def test_no_message_that_r_users_see_counts_from_0():
    seen = [text for text in sentences("0", reached=True) if not re.search(REFUSED_BY_R, text)]
    assert [text for text in map(in_r, seen) if re.search(FROM_0, text)] == []


def test_files_of_messages_that_r_does_not_reach_exist():
    assert [name for name in NOT_REACHED if not (ROOT / "ucvtest" / name).exists()] == ["mlflow"]


def test_the_bridge_itself_says_nothing_in_the_words_of_python():
    quoted = r'"((?:[^"\\]|\\.)*)"'
    texts = [
        text
        for path in sorted((ROOT / "r_bridge" / "ucvtest" / "R").glob("*.R"))
        for line in path.read_text().splitlines()
        if not line.lstrip().startswith("#")
        for text in re.findall(quoted, line)
        if text.count(" ") > 1
    ]
    assert len(texts) > 300
    assert [
        text
        for text in texts
        if re.search(f"{PYTHON_ALONE}|{PYTHON_OBJECTS}", text)
        # The name of an argument that R's functions have as well, and a title.
        and not re.search(r"'pos_label' name|Losses of learners", text)
    ] == []


def test_every_function_that_is_named_is_exported():
    exported = (ROOT / "r_bridge" / "ucvtest" / "NAMESPACE").read_text()
    assert [name for name in r_names().values() if f"export({name})" not in exported] == []


def test_every_test_and_design_that_r_has_is_named():
    designs = (ROOT / "r_bridge" / "ucvtest" / "R" / "designs.R").read_text()
    made = re.findall(r'new_design\("(\w+)"', designs)
    assert len(made) > 5
    assert {cls.__name__ for cls in TESTS.values()} | set(made) <= r_names().keys()
