"""Arguments that tests share: their names, defaults and paragraphs wherever they are looked up."""

import inspect

import pytest

import ucvtest as uv
from ucvtest.methods.registry import TESTS

METHODS = ("fit", "from_losses", "kappa_profile", "compare_variances")
CALLS = {
    **TESTS,
    **{
        f"{name}.{method}": getattr(cls, method)
        for name, cls in TESTS.items()
        for method in METHODS
        if hasattr(cls, method)
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_has_a_name_and_a_paragraph(name):
    call = CALLS[name]
    parameters = inspect.signature(call).parameters.values()
    assert all(each.kind is not each.VAR_KEYWORD for each in parameters)
    parts = inspect.getdoc(call).partition("Parameters\n----------\n")[2].splitlines()
    headers = [line.partition(" : ")[0] for line in parts if line[:1].isidentifier()]
    described = {one for header in headers for one in header.split(", ")}
    assert [each.name for each in parameters if each.name not in {*described, "self"}] == []


@pytest.mark.parametrize("name", CALLS)
def test_an_unknown_argument_is_refused_with_the_nearest(name):
    call = CALLS[name]
    function, _, method = name.partition(".")
    own = (
        ()
        if isinstance(call, type) or inspect.ismethod(call)
        else (object.__new__(TESTS[function]),)
    )
    known = list(inspect.signature(call).parameters)
    called = f"{TESTS[function].__name__}{method and '.' + method}"
    with pytest.raises(
        TypeError, match=rf"^{called}\(\) has no option '{known[-1]}s': did you mean"
    ):
        call(*own, **{f"{known[-1]}s": 1})


def test_defaults_are_those_that_hold():
    # A default that a signature shows, and a call without the argument, ask the same.
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(uv.CorrectedTTest).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    X, y = [[0.0], [1.0], [2.0], [3.0]] * 10, [0, 0, 1, 1] * 10
    bare, full = uv.CorrectedTTest(X, y, "lda"), uv.CorrectedTTest(X, y, "lda", **defaults)
    assert bare.fit(rng=0).settings == full.fit(rng=0).settings
