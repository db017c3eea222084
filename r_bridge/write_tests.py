"""What the R package says of every test: written from the signatures of Python's classes.

    python r_bridge/write_tests.py

Each test gets its line in `R/tests.R`, from which R makes its functions; its part of `NAMESPACE`;
and in its help page how it is called. What its own arguments mean is written in the help page by
hand: in `man/resampling_tests.Rd`, which has a line for each of its tests, unless there is a page
by the name of the test.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from ucvtest_r.wording import r_name

from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.registry import TESTS

PACKAGE = Path(__file__).parent / "ucvtest"
Test = type[HypothesisTest]
Tests = Mapping[str, Test]

BEGIN, END = "written by r_bridge/write_tests.py", "end of what r_bridge/write_tests.py wrote"
EXECUTION = {"self", "rng", "n_jobs", "batch_size", "progress"}
"""Arguments of `fit` that all tests have."""
IN_PYTHON_ALONE = {"self", "X", "y", "learner", "other", "cv", "weights", "backend", "missing"}
"""Arguments of the classes that R has in another form, or does without."""
BEFORE = ("x", "y", "learner", "other = NULL")
BEHIND = (
    *("loss = NULL", "scoring = NULL", "null_value = NULL"),
    *('alternative = c("two.sided", "less", "greater")', "conf.level = 0.95"),
    *("positive = NULL", "groups = NULL", 'group_weight = c("group", "row")', "weights = NULL"),
    *("n_jobs = 1", "pos_label = NULL", "metric = NULL", "\\dots"),
)
"""Arguments that R's tests share, as in R/hypothesis_test.R, in front of and behind their own."""
KINDS = ("default", "formula", "ucvtest_losses")
"""The methods of a test in R."""
TOGETHER = PACKAGE / "man" / "resampling_tests.Rd"
"""The help page of all tests that have none of their own."""


def written(tests: Tests = TESTS) -> dict[Path, str]:
    """What the files of the R package contain."""
    texts: dict[Path, str] = {}

    def between_marks(path: Path, comment: str, lines: Iterator[str]) -> None:
        text = texts.get(path) or path.read_text()
        texts[path] = _replaced(text, f"{comment} {BEGIN}", f"{comment[0]} {END}", lines)

    between_marks(PACKAGE / "R" / "tests.R", "#", specifications(tests))
    between_marks(PACKAGE / "NAMESPACE", "#", exports(tests))
    together = [cls for cls in tests.values() if page_of(cls) == TOGETHER]
    names = (f"\\alias{{{cls.r_function}}}" for cls in together)
    between_marks(TOGETHER, "% aliases,", names)
    between_marks(TOGETHER, "% usage,", iter([usage(TESTS["corrected_t"])]))
    between_marks(TOGETHER, "% described,", map(described, together))
    for cls in tests.values():
        if cls not in together:
            between_marks(page_of(cls), "% usage,", iter([usage(cls)]))
    return texts


def page_of(cls: Test) -> Path:
    """The help page of a test."""
    own = PACKAGE / "man" / f"{cls.r_function}.Rd"
    return own if own.exists() else TOGETHER


def own_arguments(cls: Test) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the class, and of `fit`, that are the test's own, with their defaults in R."""
    of_class, of_fit = (inspect.signature(each).parameters for each in (cls.__init__, cls.fit))
    shared = {each.partition(" ")[0] for each in BEHIND} | {"design"} | IN_PYTHON_ALONE
    own = {name: each.default for name, each in of_class.items() if name not in shared}
    if _has_metric_of_its_own(cls):
        own["metric"] = None
    design = getattr(cls, "default_design", None)
    in_r = {} if design is None else {"design": _design(design)}
    in_r |= {name: _in_r(value) for name, value in own.items()}
    fit = {name: _in_r(of_fit[name].default) for name in of_fit if name not in EXECUTION}
    return in_r, fit


def _has_metric_of_its_own(cls: Test) -> bool:
    """Whether `metric` chooses among a few, and is no function of means."""
    metric = inspect.signature(cls.__init__).parameters.get("metric")
    return metric is not None and Literal in map(get_origin, get_args(metric.annotation))


def without(cls: Test) -> list[str]:
    """Shared arguments that the test does not take."""
    of_class = inspect.signature(cls.__init__).parameters
    names = ("other", "loss", "scoring", "null_value", "alternative", "metric")
    lacking = {name for name in names if name not in of_class} | {*cls.needs.without}
    if cls.needs.only_loss is not None:
        lacking |= {"loss", "scoring", "metric"}
    if "null_value" not in of_class:
        lacking.add("conf.level")
    if "loss" in lacking:
        lacking.add("scoring")
    if _has_metric_of_its_own(cls):
        lacking.add("metric")
    return [name for name in (*names, "conf.level") if name in lacking]


def specifications(tests: Tests) -> Iterator[str]:
    """The line of each test in R's table."""
    yield "tests <- list("
    for cls in tests.values():
        arguments = [f'"{cls.__name__}"']
        for name, own in zip(("constructor", "fit"), own_arguments(cls), strict=True):
            if own:
                arguments.append(f"{name} = alist({_listed(own)})")
        if lacking := without(cls):
            arguments.append(f"without = c({', '.join(map(_in_r, lacking))})")
        end = ")" if cls is [*tests.values()][-1] else ","
        yield _folded(f"  {cls.r_function} = test_spec({', '.join(arguments)}){end}", "    ")


def exports(tests: Tests) -> Iterator[str]:
    """The lines of NAMESPACE."""
    names = sorted(cls.r_function for cls in tests.values())
    yield from (f"export({name})" for name in names)
    for name in names:
        yield from (f"S3method({name}, {kind})" for kind in KINDS)


def usage(cls: Test) -> str:
    """How the function is called with features and response."""
    first, last = (
        [each for each in shared if each.partition(" ")[0] not in without(cls)]
        for shared in (BEFORE, BEHIND)
    )
    arguments = ", ".join([*first, *_own(cls), *last])
    return _folded(f"\\method{{{cls.r_function}}}{{default}}({arguments})", "  ")


def described(cls: Test) -> str:
    """A line on a test: what it is, its own arguments, and the shared ones that it lacks."""
    own = ", ".join(f"\\code{{{each}}}" for each in _own(cls))
    lacking = ", ".join(f"no \\code{{{name}}}" for name in without(cls))
    text = "; ".join(filter(None, [cls.in_short, own, lacking]))
    return _folded(f"  \\item{{\\code{{{cls.r_function}}}}}{{{text}.}}", "    ")


def _own(cls: Test) -> list[str]:
    constructor, fit = own_arguments(cls)
    return [f"{name} = {value}" for name, value in (constructor | fit).items()]


def _design(design: Any) -> str:
    """A default design in R, where ten folds are the number 10."""
    changed = {
        each.name: value
        for each in fields(design)
        if (value := getattr(design, each.name)) != each.default
    }
    function = r_name(type(design).__name__)
    if function == "k_fold" and set(changed) <= {"n_folds"}:
        return str(design.n_folds)
    # By position as long as none is left out.
    names = [each.name for each in fields(design)]
    if [*changed] == names[: len(changed)]:
        return f"{function}({', '.join(map(_in_r, changed.values()))})"
    return f"{function}({_listed(changed, _in_r)})"


def _listed(arguments: Mapping[str, Any], write: Any = str) -> str:
    return ", ".join(f"{name} = {write(value)}" for name, value in arguments.items())


def _in_r(value: Any) -> str:
    """A default value in R's spelling."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def _folded(text: str, indent: str) -> str:
    """A text in lines that end after a comma or a semicolon."""
    firm = re.sub("(?<![,;]) ", "\0", text)
    lines = textwrap.wrap(
        firm, 90, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def _replaced(text: str, begin: str, end: str, lines: Iterator[str]) -> str:
    """The text with other lines between two marks."""
    between = re.compile(f"(?<=^{re.escape(begin)}\n).*?(?=^{re.escape(end)}$)", re.M | re.S)
    new, found = between.subn(lambda _: "\n".join(lines).rstrip("\n") + "\n", text, count=1)
    if not found:
        raise ValueError(f"no line {begin!r}")
    return new


def main() -> None:
    """Write the files."""
    for path, text in written().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
