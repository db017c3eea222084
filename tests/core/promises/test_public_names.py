"""No public name of 0.1.0 is lost, and no call that worked then is refused.

`public_names.json` contains what is public: the signature of everything that can be called, and a
word for everything else. Names may be added, and so may parameters with defaults, by name alone or
behind all others. Parameters by name alone may change places.
"""

import ast
import dataclasses
import importlib
import inspect
import json
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any, get_origin

import pytest

import ucvtest as uv
from ucvtest.inference.base import HypothesisTest

FILE = Path(__file__).parent / "public_names.json"
SNAPSHOT = json.loads(FILE.read_text())
MODULES = (
    "codes",
    "curves",
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
    "metrics",
)
PROMISED_OF_TESTS = {
    *("default_design", "needs", "method_name"),
    *("labels", "learn_sizes", "learners", "n_obs", "n_pairs", "paired", "target"),
    *("class_members", "disjoint", "estimand", "fold_sizes"),
}
"""What may be read of a test beside its methods. By its other attributes a class tells comparisons
and the adviser what it needs."""
READ = ("attribute", "field", "property")
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def described(value: Any) -> str:
    """The signature without types, or the kind of thing where there is none."""
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
    return without_types(signature, signature.parameters)


def without_types(signature: inspect.Signature, names: Collection[str]) -> str:
    """The signature with some of its parameters alone."""
    kept = [each for name, each in signature.parameters.items() if name in names]
    return str(inspect.Signature([each.replace(annotation=each.empty) for each in kept]))


def is_protocol(cls: type) -> bool:
    """Whether it only says what others have to have."""
    return bool(getattr(cls, "_is_protocol", False))


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
    if issubclass(cls, HypothesisTest):
        found = {
            name: value
            for name, value in found.items()
            if name in PROMISED_OF_TESTS or described(value).startswith("(")
        }
    if dataclasses.is_dataclass(cls):
        # Whatever their defaults: the signature of the class has those.
        found |= {each.name: "field" for each in dataclasses.fields(cls)}
    return found


def everything() -> dict[str, tuple[str, Any]]:
    """All public names, with what describes them and what they are."""
    top = {name: getattr(uv, name) for name in uv.__all__}
    for module in MODULES:
        loaded = importlib.import_module(f"ucvtest.{module}")
        top |= {f"{module}.{name}": getattr(loaded, name) for name in loaded.__all__}
    found = {}
    for name, value in top.items():
        found[name] = (described(value), value)
        if inspect.isclass(value):
            for member, part in members(value).items():
                kind = "field" if part == "field" else described(part)
                found[f"{name}.{member}"] = (kind, part)
    return dict(sorted(found.items()))


def works_as_before(before: str, now: str, value: Any) -> bool:
    """Whether calls of then still work; what is only read may be kept in another way."""
    if before == now or (before in READ and now in READ):
        return True
    if not (before.startswith("(") and now.startswith("(")):
        return False
    signature = inspect.signature(value)
    names = parameters_of(before)
    added = [each for name, each in signature.parameters.items() if name not in names]
    positional = [each for each in signature.parameters.values() if each.kind in POSITIONAL]
    last = positional[len(positional) - sum(each in positional for each in added) :]
    return (
        in_any_order(without_types(signature, names)) == in_any_order(before)
        and all(each.default is not each.empty for each in added)
        and all(each.kind is each.KEYWORD_ONLY or each in last for each in added)
    )


def arguments_of(signature: str) -> ast.arguments:
    """The arguments in the text of a signature."""
    # Defaults that a factory makes are no Python.
    text = signature.replace("<factory>", "None")
    function = ast.parse(f"def f{text}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    return function.args


def parameters_of(signature: str) -> set[str]:
    """The names of the parameters in the text of a signature."""
    return {each.arg for each in ast.walk(arguments_of(signature)) if isinstance(each, ast.arg)}


def in_any_order(signature: str) -> tuple[str, dict[str, str]]:
    """What stands in an order, and the defaults of what is given by name alone."""
    arguments = arguments_of(signature)
    defaults = [each and ast.unparse(each) for each in arguments.kw_defaults]
    by_name = {
        each.arg: str(default) for each, default in zip(arguments.kwonlyargs, defaults, strict=True)
    }
    arguments.kwonlyargs, arguments.kw_defaults = [], []
    return ast.unparse(arguments), by_name


@pytest.fixture(scope="module")
def now() -> dict[str, tuple[str, Any]]:
    return everything()


def test_no_name_is_lost(now):
    assert [name for name in SNAPSHOT if name not in now] == []


def test_no_call_is_refused(now):
    changed = [
        f"{name}{before} is now {now[name][0]}"
        for name, before in SNAPSHOT.items()
        if name in now and not works_as_before(before, *now[name])
    ]
    assert changed == []


def test_parameters_may_be_added_where_they_are_in_nobodys_way():
    def behind(a, b=1, new=None, *, c=2): ...

    def by_name(a, b=1, *, new=None, c=2): ...

    def between(a, new=None, b=1, *, c=2): ...

    def needed(a, b=1, *, new, c=2): ...

    def other_default(a, b=2, *, c=2): ...

    def renamed(a, d=1, *, c=2): ...

    def fewer(a, *, c=2): ...

    def by_name_alone(a, *, b=1, c=2): ...

    def other_place(a, b=1, *, d=3, c=2): ...

    before = "(a, b=1, *, c=2)"
    fine = [each for each in (behind, by_name) if works_as_before(before, described(each), each)]
    assert fine == [behind, by_name]
    assert works_as_before("(a, b=1, *, c=2, d=3)", described(other_place), other_place)
    for each in (between, needed, other_default, renamed, fewer, by_name_alone):
        assert not works_as_before(before, described(each), each), each
    assert works_as_before("property", "attribute", 1)
    assert not works_as_before(before, "property", property(len))


if __name__ == "__main__":
    # For a release that makes new names public.
    words = {name: word for name, (word, _) in everything().items()}
    FILE.write_text(json.dumps(words, indent=0) + "\n")
