"""A page for every public name."""

import importlib
import inspect
from collections.abc import Iterable
from typing import Any

import ucvtest as uv
from made.files import Folder, markdown_table
from ucvtest.inference.base import HypothesisTest
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.registry import TESTS

MODULES = (
    "designs",
    "losses",
    "metrics",
    "learners",
    "kernels.ustatistic",
    "kernels.auc_ustatistic",
    "kernels.influence",
    "kernels.fold_covariance",
    "kernels.leave_pair_out",
    "kernels.permutation",
    "curves",
    "codes",
    "hooks",
)
"""Public modules, whose names are listed by `__all__`."""

PLUGINS = ("ucvtest_mlflow", "ucvtest_r")

GROUPS: dict[str, tuple[str, ...]] = {
    "Results": (
        "TestResult",
        "Comparison",
        "NoninferiorityResult",
        "EquivalenceResult",
        "JointResult",
        "Citations",
        "cite",
    ),
    "Several tests, several learners": ("compare", "compare_losses", "TestSpec"),
    "Which columns matter": ("columns", "ColumnGains"),
    "Losses that exist": ("evaluate", "Losses", "Loss", "survival"),
    "Gates": ("Ledger", "LedgerState", "GateAnswer"),
    "Which test, how many observations": (
        "advise",
        "Advice",
        "plan",
        "SamplePlan",
        "resamples_for_precision",
        "KappaProfile",
    ),
    "Model selection": ("select_model", "ModelSelection"),
    "Logging and warnings": ("autolog", "UcvtestWarning", "SlowFitsWarning"),
}

OF_TESTS = {
    "alternative",
    "design",
    "fit",
    "from_formula",
    "from_losses",
    "joint",
    "learner",
    "learners",
    "loss",
    "method_name",
    "metric",
    "n_obs",
    "n_units",
    "null_value",
    "other",
    "paired",
    "planned_fits",
    "target",
}
"""Members of all tests that users need. The others are for the frame around a fit, which
`docs/develop/add-a-test.md` describes; they would bury these on every page."""

DATA = {
    "ucvtest.losses.LOSSES": "The losses that have a name.",
    "ucvtest.losses.Output": "The kinds of prediction that a loss can need.",
    "ucvtest.kernels.leave_pair_out.LABELINGS_PER_CALL": (
        "The number of labelings that one call computes."
    ),
    "ucvtest.kernels.permutation.SAMPLINGS": "The ways of drawing new labels.",
    "ucvtest.kernels.permutation.Sampling": "The name of a way of drawing new labels.",
}
"""Names without a docstring, because they are neither classes nor functions."""

SHARED = "ucvtest.inference.base.HypothesisTest"
"""Not public, but what the documentation of all tests refers to."""


def write(parts: Folder, names: Folder) -> None:
    """The pages, and the list of them with its tables of contents."""
    written = {}
    lists = [("Tests", [*_qualified(cls.__name__ for cls in TESTS.values()), SHARED])]
    lists += [(title, _qualified(members)) for title, members in GROUPS.items()]
    n_groups = len(lists)
    for module in MODULES:
        members = importlib.import_module(f"ucvtest.{module}").__all__
        lists.append((f"ucvtest.{module}", [f"ucvtest.{module}.{name}" for name in members]))
    for plugin in PLUGINS:
        members = importlib.import_module(plugin).__all__
        lists.append((plugin, [f"{plugin}.{name}" for name in members]))
    seen: set[int] = set()
    for _, members in lists:
        for name in members:
            # A second name of the same thing gets a page, but links lead to the first.
            written[f"{name}.rst"] = _page(name, again=id(_value(name)) in seen)
            seen.add(id(_value(name)))
    missing = set(_qualified(uv.__all__)) - {name.removesuffix(".rst") for name in written}
    modules = {f"ucvtest.{module.partition('.')[0]}" for module in MODULES}
    if missing - modules:
        raise ValueError(f"no page for {sorted(missing - modules)}: put them into GROUPS")
    for name, text in written.items():
        names.text(name, text)
    names.without_others(written)
    listed = [_listed(title, members) for title, members in lists]
    listed.insert(n_groups, "## Modules\n")
    parts.text("reference.md", "\n".join(listed))


def _qualified(names: Iterable[str]) -> list[str]:
    return [f"ucvtest.{name}" for name in names]


def _listed(title: str, names: list[str]) -> str:
    """A table for people, and a table of contents for the navigation.

    Names of modules open with a click: most people need none of them.
    """
    rows = [[f"[`{_short(name)}`](names/{name}.rst)", first_line(name)] for name in names]
    table = markdown_table(["name", "in one line"], rows)
    part = f"## {title}\n\n{table}"
    if title.startswith("ucvtest"):
        part = f":::{{dropdown}} {title}\n\n{table}:::\n"
    tree = ["```{toctree}", ":hidden:", f":caption: {title}", ":maxdepth: 1", ""]
    tree += [*(f"names/{name}" for name in names), "```"]
    return "\n".join([part, *tree, ""])


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def first_line(name: str) -> str:
    """The first line of a docstring."""
    if name in DATA:
        return DATA[name]
    return (inspect.getdoc(_value(name)) or "").partition("\n")[0]


def _machinery() -> list[str]:
    """Members of tests that users do not need."""
    frame = {"by_rows", "joint_run", "question"}
    for base in (HypothesisTest, ResamplingTest):
        frame |= {*dir(base), *inspect.get_annotations(base)}
    return sorted(name for name in frame - OF_TESTS if not name.startswith("_"))


def _page(name: str, *, again: bool) -> str:
    value = _value(name)
    directive, options = "autodata", []
    if inspect.isclass(value):
        directive, options = "autoclass", ["   :members:", "   :inherited-members: Exception"]
        if issubclass(value, HypothesisTest):
            options.append(f"   :exclude-members: {', '.join(_machinery())}")
        if issubclass(value, (tuple, dict)):
            options = []
    elif callable(value):
        directive = "autofunction"
    if again:
        options.append("   :no-index:")
    short = _short(name)
    lines = [short, "=" * len(short), "", f".. {directive}:: {name}", *options, ""]
    return "\n".join(lines)


def _value(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)
