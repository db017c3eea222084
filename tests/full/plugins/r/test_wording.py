"""What R users read: nothing of Python's names, values and counting."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ucvtest_r.wording import R_NAMES, RDoor, r_name

from tests.support.paths import ROOT
from ucvtest.common import words
from ucvtest.methods.registry import TESTS

PYTHON_ALONE = (
    r"(?<![\w.])(?:fit|compare|evaluate)\(|\buv\.|\bLosses\.(?!save|to_dict)|"
    r"\bfrom_(?:losses\(|arrays|scores|predictions|sklearn)|\bpos_label\b|"
    r"(?<!the same )\b[a-z_]\w+=(?=[\s,:;.)]|$)|(?<![,:])\b[a-z_]+=['\w(\[]"
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
    "losses/from_mlflow.py": "R reads tables of MLflow itself",
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
    r"if the rows already correspond|"
    r"rows are matched by position|contains durations as texts|a tuple for each observation|"
    r"contains dates or times, which are not numbers|is a sparse matrix|"
    r"has columns that are not numeric|here it sees other columns|"
    r"must have two dimensions|needs a row of features for each observation|"
    r"whose labels are sorted|"
    r"must map names to columns|fold is a DataFrame|"
    r"pass a DataFrame with columns, and rows of costs|written by Losses\.|"
    # R asks for its own designs, tests and types, and draws the seeds.
    r"design must be a Design|design=.* is unknown|design 0 is unknown|cv=|cv is|array of bool|"
    r"must contain pairs of row numbers|a test class reads it|rng must|got the text|"
    r"strata must be|seed must|must be a mapping|must be a Loss\b|function must be callable|"
    r"randomness is decided by|rows are weighted by|n_jobs must not be|splits must be pairs|"
    r"n_jobs= distributes|start processes by the method|"
    # R's weights go to fits alone; na.action decides about missing values.
    r"cannot weight rows in fitting|fits without weights|missing = .drop.|"
    r"scoring asks for sample_weight|"
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


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def messages(filled: str) -> Iterator[str]:
    """Texts of errors, warnings and notes, with a word for what is filled in."""
    package, bridge = ROOT / "ucvtest", ROOT / "r_bridge" / "ucvtest_r"
    of_bridge = [
        bridge / f"{name}.py" for name in ("conversion", "functions", "learners", "reading")
    ]
    for path in sorted(package.rglob("*.py")) + of_bridge:
        place = path.name if path in of_bridge else path.relative_to(package).as_posix()
        if place.startswith(tuple(NOT_REACHED)):
            continue
        tree = parsed(path)
        parents = {id(each): node for node in ast.walk(tree) for each in ast.iter_child_nodes(node)}
        of_python = {
            id(each)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "__str__")
            for each in ast.walk(node)
        }
        for node in ast.walk(tree):
            # Neither docstrings nor parts of f-strings, which are seen as a whole.
            if isinstance(parents.get(id(node)), (ast.Expr, ast.JoinedStr, ast.FormattedValue)):
                continue
            if id(node) in of_python or getattr(node, "value", None) in RDoor.terms:
                continue
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(_filled(part, filled) for part in node.values)


def _filled(part: ast.expr, filled: str) -> str:
    """A piece of text as it is, a token in R's words, or what is filled in for anything else."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    value: Any = part.value if isinstance(part, ast.FormattedValue) else part
    token = getattr(words, getattr(getattr(value, "func", None), "id", ""), None)
    if token is words.place:
        return "1"
    if token is None or not isinstance(value.args[0], ast.Constant):
        return filled
    given = [getattr(each, "value", "x") for each in value.args]
    with words.through(RDoor()):
        return str(token(*given))


def sentences(filled: str) -> list[str]:
    """Messages of more than three words: a sentence has spaces, and a line break is code."""
    texts = set(messages(filled))
    return sorted(text for text in texts if text.count(" ") > 2 and "\n" not in text)


def found(pattern: str, filled: str = "x") -> list[str]:
    """Messages that R users see, in the words of R, with words that mean nothing there."""
    seen = [text for text in sentences(filled) if not re.search(REFUSED_BY_R, text)]
    assert len(seen) > 1000
    return [text for text in seen if re.search(pattern, text)]


def test_no_message_tells_r_users_of_pythons_functions_and_arguments():
    assert found(PYTHON_ALONE) == []


def test_no_message_that_r_users_see_is_about_objects_of_python():
    assert found(PYTHON_OBJECTS) == []


def test_no_message_that_r_users_see_counts_from_0():
    assert found(FROM_0, "0") == []


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
    named = {*R_NAMES.values(), *(cls.r_function for cls in TESTS.values())} - {"Surv"}
    assert [name for name in named if f"export({name})" not in exported] == []


def test_designs_are_exported_by_the_names_that_messages_have_for_them():
    exported = (ROOT / "r_bridge" / "ucvtest" / "NAMESPACE").read_text()
    designs = (ROOT / "r_bridge" / "ucvtest" / "R" / "designs.R").read_text()
    made = re.findall(r'^(\w+) <- function.*\n.*?new_design\("(\w+)"', designs, re.M)
    made += re.findall(r'^(\w+) <- function[^#]*?\n  new_design\("(\w+)"', designs, re.M)
    assert len({*made}) > 5
    for function, design in made:
        assert r_name(design) == function
        assert f"export({function})" in exported
