"""What the R package says of every test: written from the registry, and nobody types it.

    python r_bridge/write_tests.py

A test on the losses of one resampling design gets its function (`R/resampling_tests.R`) and its
part of a help page (`man/resampling_tests.Rd`) from its class: R's name, the default design, and
the options of `fit`. A test of another kind has a function in `R/tests.R` and a help page of its
own, both written by hand. `NAMESPACE` exports all of them.
"""

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ucvtest_r.wording import R_DESIGNS

from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.registry import TESTS

PACKAGE = Path(__file__).parent / "ucvtest"
Tests = Mapping[str, type[HypothesisTest]]

BEGIN, END = "written by r_bridge/write_tests.py", "end of what r_bridge/write_tests.py wrote"
HEAD = f"""\
# {BEGIN[0].upper()}{BEGIN[1:]}: the tests on the losses of one resampling design.
"""
FUNCTION = """
{spec}
{name} <- function(x, ...) UseMethod("{name}")
{name}.default <- default_method({name_of_spec})
{name}.formula <- formula_method({name}.default)
{name}.ucvtest_losses <- losses_method({name_of_spec})
"""
EXECUTION = {"self", "rng", "n_jobs", "batch_size", "progress"}
"""Arguments of `fit` that all tests have."""
KINDS = ("default", "formula", "ucvtest_losses")
"""The methods of a test in R."""


def written(tests: Tests = TESTS) -> dict[Path, str]:
    """What the files of the R package contain."""
    ours = resampling_tests(tests)
    help_page = PACKAGE / "man" / "resampling_tests.Rd"
    text = help_page.read_text()
    for part, lines in (("aliases", aliases), ("usage", usage), ("described", described)):
        text = _replaced(text, f"% {part}, {BEGIN}", f"% {END}", lines(ours))
    namespace = PACKAGE / "NAMESPACE"
    return {
        PACKAGE / "R" / "resampling_tests.R": HEAD + "".join(map(_function, ours)),
        help_page: text,
        namespace: _replaced(namespace.read_text(), f"# {BEGIN}", f"# {END}", exports(tests)),
    }


def resampling_tests(tests: Tests) -> list[type[HypothesisTest]]:
    """The tests that R makes from the class alone."""
    return [cls for cls in tests.values() if getattr(cls, "default_design", None) is not None]


def options_of(cls: type[HypothesisTest]) -> dict[str, Any]:
    """The arguments of `fit` that are the test's own, with their defaults."""
    parameters = inspect.signature(cls.fit).parameters.values()
    return {each.name: each.default for each in parameters if each.name not in EXECUTION}


def _without(cls: type[HypothesisTest]) -> tuple[str, ...]:
    loss = () if cls.needs.only_loss is None else ("loss",)
    return (*loss, *sorted({"null_value", "alternative"} & {*cls.needs.without}))


def _function(cls: type[HypothesisTest]) -> str:
    name_of_spec = f"{cls.method_name}_spec"
    arguments = [f'"{cls.__name__}"', f"design = {_design(cls)}"]
    if own := [f"{name} = {_in_r(value)}" for name, value in options_of(cls).items()]:
        arguments.append(f"fit = alist({', '.join(own)})")
    if names := [f'"{name}"' for name in _without(cls)]:
        arguments.append(f"without = c({', '.join(names)})")
    if cls.needs.learners == "two":
        arguments.append("needs_other = TRUE")
    spec = _folded(f"{name_of_spec} <- resampling_spec(", arguments, " " * 4)
    return FUNCTION.format(spec=spec, name=cls.r_function, name_of_spec=name_of_spec)


def exports(tests: Tests) -> Iterator[str]:
    """The lines of NAMESPACE."""
    names = sorted(cls.r_function for cls in tests.values())
    yield from (f"export({name})" for name in names)
    for name in names:
        yield from (f"S3method({name}, {kind})" for kind in KINDS)


def aliases(tests: list[type[HypothesisTest]]) -> Iterator[str]:
    """The names under which R finds the help page."""
    for cls in tests:
        yield from (f"\\alias{{{cls.r_function}{end}}}" for end in ("", ".default", ".formula"))


def usage(tests: list[type[HypothesisTest]]) -> Iterator[str]:
    """How the functions are called."""
    for cls in tests:
        method = f"\\method{{{cls.r_function}}}"
        yield from (f"{cls.r_function}(x, \\dots)", "")
        yield _folded(f"{method}{{default}}(", _arguments(cls), "  ")
        by_formula = ["formula", "data = environment(formula)", "\\dots", "subset"]
        by_formula += ["na.action = stats::na.pass", "groups", "weights"]
        yield from ("", _folded(f"{method}{{formula}}(", by_formula, "  "), "")


def _arguments(cls: type[HypothesisTest]) -> list[str]:
    """Those of R's `default_method`, in its order; R CMD check compares them."""
    own = [f"{name} = {_in_r(value)}" for name, value in options_of(cls).items()]
    known = [
        *("x", "y", "learner", "other = NULL", f"design = {_design(cls)}", *own),
        *("loss = NULL", "scoring = NULL", "null_value = NULL"),
        *('alternative = c("two.sided", "less", "greater")', "conf.level = 0.95"),
        *("positive = NULL", "groups = NULL", 'group_weight = c("group", "row")'),
        *("weights = NULL", "n_jobs = 1", "pos_label = NULL", "metric = NULL", "\\dots"),
    ]
    without = {*_without(cls), *(("scoring", "metric") if "loss" in _without(cls) else ())}
    return [each for each in known if each.partition(" ")[0] not in without]


def described(tests: list[type[HypothesisTest]]) -> Iterator[str]:
    """A line on each test."""
    yield from (f"  \\item{{\\code{{{cls.r_function}}}}}{{{cls.in_short}.}}" for cls in tests)


def _design(cls: type[HypothesisTest]) -> str:
    """The default design in R, where ten folds are the number 10."""
    design: Any = getattr(cls, "default_design")  # noqa: B009  (tests of one design alone have it)
    own = {each.name: getattr(design, each.name) for each in fields(design)}
    defaults = {each.name: each.default for each in fields(design)}
    while own and (last := list(own)[-1]) and own[last] == defaults[last]:
        del own[last]
    name = type(design).__name__
    if name == "KFold" and len(own) < 2:
        return str(design.n_folds)
    # Behind one that is NULL by default, arguments have names.
    skipped = [each for each in own if own[each] == defaults[each]]
    if any(own[each] is None for each in skipped):
        changed = {each: value for each, value in own.items() if each not in skipped}
        written = [f"{each} = {_in_r(value)}" for each, value in changed.items()]
    else:
        written = [_in_r(value) for value in own.values()]
    return f"{R_DESIGNS[name]}({', '.join(written)})"


def _in_r(value: Any) -> str:
    """A default value in R's spelling."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


def _folded(opened: str, arguments: list[str], indent: str) -> str:
    """A call in lines of 90 characters, broken between arguments."""
    joined = ",\0".join(each.replace(" ", "\1") for each in arguments) + ")"
    lines = textwrap.wrap(
        (opened.replace(" ", "\1") + joined).replace("\0", " "),
        *(90,),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace("\1", " ")


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
