"""A page for every public name."""

import importlib
import inspect
from collections.abc import Iterable
from typing import Any

import ucvtest as uv
from made.files import Folder
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
    "simulate",
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
    "Losses that exist": ("evaluate", "Losses", "Loss", "survival"),
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

SHARED = "ucvtest.inference.base.HypothesisTest"
"""Not public, but what the documentation of all tests refers to."""


def write(parts: Folder, names: Folder) -> None:
    """The pages, and the list of them with its tables of contents."""
    written = {}
    lists = [("Tests", [*_qualified(cls.__name__ for cls in TESTS.values()), SHARED])]
    lists += [(title, _qualified(members)) for title, members in GROUPS.items()]
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
    parts.text("reference.md", "\n".join(_listed(title, members) for title, members in lists))


def _qualified(names: Iterable[str]) -> list[str]:
    return [f"ucvtest.{name}" for name in names]


def _listed(title: str, names: list[str]) -> str:
    rows = [f"names/{name}" for name in names]
    return "\n".join(["```{toctree}", f":caption: {title}", ":maxdepth: 1", "", *rows, "```", ""])


def _page(name: str, *, again: bool) -> str:
    value = _value(name)
    directive, options = "autodata", []
    if inspect.isclass(value):
        directive, options = "autoclass", ["   :members:", "   :inherited-members: Exception"]
        if issubclass(value, (tuple, dict)):
            options = []
    elif callable(value):
        directive = "autofunction"
    if again:
        options.append("   :no-index:")
    short = name.rpartition(".")[2]
    lines = [short, "=" * len(short), "", f".. {directive}:: {name}", *options, ""]
    return "\n".join(lines)


def _value(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)
