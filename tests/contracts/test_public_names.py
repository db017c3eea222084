"""No public name is lost, and no call that worked before the snapshot is refused.

`public_names.json` holds what was public: the signature of everything that can be called, and a
word for everything else. Names may be added, and so may a parameter ``groups`` that is None by
default, where it changes no call without it.
"""

import dataclasses
import importlib
import inspect
import json
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, get_origin

import pytest

import ucvtest as uv

SNAPSHOT = json.loads((Path(__file__).parent / "public_names.json").read_text())
MODULES = (
    "codes",
    "designs",
    "hooks",
    "kernels",
    "kernels.auc_ustatistic",
    "kernels.fold_covariance",
    "kernels.influence",
    "kernels.leave_pair_out",
    "kernels.permutation",
    "kernels.ustatistic",
    "learners",
    "losses",
    "simulate",
)
STRATIFIED = ("HoldOut", "KFold", "NestedKFold", "RandomSplits", "SplitHalves")
OF_ONE_DESIGN = (
    "BayesianTTest",
    "ConservativeZTest",
    "CorrectedTTest",
    "CrossValidationWaldTest",
    "DeLongTest",
    "FiveByTwoFTest",
    "FiveByTwoTTest",
    "HoldOutTest",
    "McNemarTest",
    "NaiveTTest",
    "NestedCrossValidationTest",
)
ADDED = {
    **dict.fromkeys(OF_ONE_DESIGN, ("group_weight", "scoring", "missing", "cv")),
    "FoldCovarianceTest": ("group_weight", "scoring", "missing"),
    "InfluenceFunctionTest": ("loss", "group_weight", "scoring", "missing"),
    "PermutationComplexityTest": ("group_weight", "scoring", "missing"),
    **{f"{name}.from_losses": ("group_weight",) for name in OF_ONE_DESIGN},
    "FoldCovarianceTest.from_losses": ("group_weight",),
    "InfluenceFunctionTest.from_losses": ("group_weight",),
    "LeavePairOutTest": ("group_weight", "scoring", "missing"),
    "compare_losses": ("group_weight",),
    "designs.random_splits_of": ("unevenness",),
    "kernels.auc_ustatistic.from_scores": ("group_weight",),
    "kernels.leave_pair_out.errors": ("group_weight",),
    "kernels.permutation.generalization": ("group_weight",),
    "ModelSelection": ("names",),
    "evaluate": ("scoring", "cv", "missing", "max_seconds", "checkpoint"),
    "Comparison": ("joint", "together"),
    "Comparison.plot": ("kind",),
    "Comparison.save_plot": ("kind",),
    "LeavePairOutTest.fit": ("stop_after", "max_seconds"),
    "FoldCovarianceTest.fit": ("max_seconds",),
    **{f"{name}.fit": ("max_seconds",) for name in OF_ONE_DESIGN},
    "DeLongTest.fit": ("interval", "max_seconds"),
    "InfluenceFunctionTest.fit": ("max_fits", "max_seconds"),
    "PermutationComplexityTest.fit": ("stop_after", "max_seconds"),
    "TestResult": (
        "better",
        "interval_name",
        "null_hypothesis",
        "assumption",
        "posterior",
        "rule",
        "contrast",
    ),
    "Losses": ("groups", "greater_is_better"),
    "UStatisticTest": ("group_weight", "contrast", "scoring", "missing"),
    "UStatisticTest.fit": ("interval", "max_seconds"),
    "UStatisticTest.from_losses": ("contrast", "group_weight"),
    "compare": (
        *("group_weight", "contrast", "baseline", "scoring", "missing", "cv", "max_seconds"),
        "checkpoint",
    ),
    "select_model": ("group_weight", "scoring", "missing", "max_seconds"),
    "Losses.from_predictions": ("sample_weight",),
    "designs.as_design": ("auc",),
    "learners.JittedLearner.codes": ("margin",),
    "kernels.influence.auc": ("group_weight",),
    "kernels.influence.error": ("group_weight",),
    **{f"designs.{name}": ("stratify",) for name in STRATIFIED},
    **{f"designs.{name}.draw": ("groups", "strata") for name in STRATIFIED},
}
"""Fields and parameters with defaults that came later, behind all others."""
READ = ("attribute", "field", "property")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def described(value: Any, *, with_groups: bool = True) -> str:
    """The signature without types, or the kind of thing where there is none.

    Parameters
    ----------
    value : object
    with_groups : bool
        Whether a parameter ``groups`` that changes no call without it is shown.
    """
    if isinstance(value, (property, cached_property)):
        return "property"
    if inspect.ismodule(value):
        return "module"
    if get_origin(value) is not None or not callable(value):
        return "attribute"
    if inspect.isclass(value) and (issubclass(value, Exception) or is_protocol(value)):
        # What Python makes of these is not the same in all its versions.
        return "class"
    signature = inspect.signature(value)
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if with_groups or not _is_harmless(parameter, signature)
    ]
    return str(inspect.Signature(shown))


def is_protocol(cls: type) -> bool:
    """Whether it only says what others have to have."""
    return bool(getattr(cls, "_is_protocol", False))


def _is_harmless(parameter: inspect.Parameter, signature: inspect.Signature) -> bool:
    """Whether it is a ``groups`` that is not in the way of any other argument."""
    if parameter.name != "groups" or parameter.default is not None:
        return False
    positional = [each for each in signature.parameters.values() if each.kind in POSITIONAL]
    return parameter.kind is parameter.KEYWORD_ONLY or parameter == positional[-1]


def members(cls: type) -> dict[str, Any]:
    """The public members of a class that ucvtest has written, and its fields."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.partition(".")[0] == "ucvtest":
            names = [name for name in vars(base) if not name.startswith("_")]
            found |= {name: inspect.getattr_static(cls, name) for name in names}
    bound = (classmethod, staticmethod)
    found = {
        name: getattr(cls, name) if isinstance(value, bound) else value
        for name, value in found.items()
    }
    if dataclasses.is_dataclass(cls):
        # Whatever their defaults: the signature of the class has those.
        found |= {each.name: "field" for each in dataclasses.fields(cls)}
    return found


def public_names(*, with_groups: bool = True) -> dict[str, str]:
    """All public names with their signatures, sorted."""
    found = {}
    everything = {name: getattr(uv, name) for name in uv.__all__}
    for module in MODULES:
        loaded = importlib.import_module(f"ucvtest.{module}")
        everything |= {f"{module}.{name}": getattr(loaded, name) for name in loaded.__all__}
    for name, value in everything.items():
        found[name] = described(value, with_groups=with_groups)
        if inspect.isclass(value):
            for member, part in members(value).items():
                own = "field" if part == "field" else described(part, with_groups=with_groups)
                found[f"{name}.{member}"] = own
    return dict(sorted(found.items()))


@pytest.fixture(scope="module")
def now() -> tuple[dict[str, str], dict[str, str]]:
    return public_names(), public_names(with_groups=False)


def test_no_name_is_lost(now):
    assert [name for name in SNAPSHOT if name not in now[0]] == []


def test_no_call_is_refused(now):
    changed = [
        f"{name}{before} is now {now[0][name]}"
        for name, before in SNAPSHOT.items()
        if name in now[0] and not _reads_alike(before, now[0][name], now[1][name])
    ]
    assert [each for each in changed if each.partition("(")[0] not in ADDED] == []


@pytest.mark.parametrize("name", ADDED)
def test_what_was_added_is_in_nobodys_way(name):
    parameters = list(inspect.signature(reduce(getattr, name.split("."), uv)).parameters.values())
    kept = [each for each in parameters if each.name not in ADDED[name]]
    added = [each for each in parameters if each.name in ADDED[name]]
    assert tuple(each.name for each in added) == ADDED[name]
    # Behind all others, or by name alone.
    by_name = all(each.kind is each.KEYWORD_ONLY for each in added)
    assert by_name or parameters[-len(added) :] == added
    assert all(each.default is not each.empty for each in added)
    bare = inspect.Signature([each.replace(annotation=each.empty) for each in kept])
    harmless = [each for each in bare.parameters.values() if not _is_harmless(each, bare)]
    assert SNAPSHOT[name] in (str(bare), str(inspect.Signature(harmless)))


def _reads_alike(before: str, *after: str) -> bool:
    """Whether it is called as before; what is only read may be kept in another way."""
    return before in after or (before in READ and after[0] in READ)


def test_groups_may_come_where_it_is_in_nobodys_way():
    def keyword(a, b=1, *, groups=None, c=2): ...

    def last(a, b=1, groups=None, *, c=2): ...

    def between(a, groups=None, b=1, *, c=2): ...

    def needed(a, b=1, *, groups, c=2): ...

    def alone(a, *, groups=None): ...

    assert described(keyword, with_groups=False) == "(a, b=1, *, c=2)"
    assert described(last, with_groups=False) == "(a, b=1, *, c=2)"
    assert described(between, with_groups=False) == "(a, groups=None, b=1, *, c=2)"
    assert described(needed, with_groups=False) == "(a, b=1, *, groups, c=2)"
    assert described(alone, with_groups=False) == "(a)"
    assert described(keyword) == "(a, b=1, *, groups=None, c=2)"
