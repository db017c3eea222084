"""``ucvtest advise``: which test to run."""

import dataclasses
import shlex
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import typer

from ucvtest.cli.compare import DESIGN
from ucvtest.cli.errors import ShellDoor, flag, flags
from ucvtest.cli.files import LossName
from ucvtest.common.words import through

if TYPE_CHECKING:
    from ucvtest.advice.advise import Advice


def advise(
    *,
    n: int,
    fits: int = 10_000,
    loss: LossName | None = None,
    learners: int = 2,
    goal: Literal["test", "interval"] = "interval",
    about: Literal["learner", "rules"] = "learner",
    metric: str | None = None,
) -> None:
    """Recommend a test for a number of observations, from a calibration study.

    Parameters
    ----------
    n
        Observations in the sample.
    fits
        Model fits that can be afforded.
    loss
        What errors cost. [default: zero_one]
    learners
        1, or 2 that are compared.
    goal
        What matters most.
    about
        The learner on samples of this kind, or the rule learnt from this one.
    metric : NAME
        A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, balanced_accuracy, r2
        and others, as in Python.

    Examples
    --------
    ucvtest advise --n 60 --loss log --fits 400
    ucvtest advise --n 100 --metric f1 --fits 40
    """
    import ucvtest as uv

    # Reasons name options of the command that carries the test out.
    named = flags([*signature(advise).parameters, "contrast"])
    with through(ShellDoor(named)):
        advice = uv.advise(
            n, fits, loss=loss, learners=learners, goal=goal, about=about, metric=metric
        )
    _, *reasons = str(advice).splitlines()
    typer.echo(_command(advice))
    typer.echo("\n".join(reasons))


def _command(advice: "Advice") -> str:
    """How the recommended test is run from here."""
    from ucvtest.methods.registry import class_named

    other = "" if advice.n_learners == 1 else " --other B"
    test = class_named(advice.test).method_name
    settings = {**advice.settings, **advice.options}
    about_loss = {name: settings.pop(name) for name in ("loss", "metric") if name in settings}
    design: Any = settings.pop("design", None)
    if design is not None:
        named = {name: option for option, name in DESIGN.items()}
        settings |= {
            named[size.name]: f"{getattr(design, size.name):.4g}"
            for size in dataclasses.fields(design)
            if size.name in named and getattr(design, size.name) != size.default
        }
    question, written = (
        "".join(f" {flag(name)} {shlex.quote(str(value))}" for name, value in options.items())
        for options in (about_loss, settings)
    )
    promise = "" if advice.promises else "   (cannot promise: see the reasons)"
    return (
        f"ucvtest compare FILE --target COLUMN --learner A{other}{question} --test {test}{written}"
        f"{promise}"
    )
