"""``ucvtest advise``: which test to run."""

import dataclasses
import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import ShellDoor, one_line_errors, options_of
from ucvtest.common.words import through

if TYPE_CHECKING:
    from ucvtest.advice.advise import Advice


def advise(
    n: Annotated[int, typer.Option("--n", help="Observations in the sample.")],
    fits: Annotated[int, typer.Option(help="Model fits that can be afforded.")] = 10_000,
    loss: Annotated[
        options.LossName | None, typer.Option(help="What errors cost. [default: zero_one]")
    ] = None,
    learners: Annotated[int, typer.Option(help="1, or 2 that are compared.")] = 2,
    goal: Annotated[
        Literal["test", "interval"], typer.Option(help="What matters most.")
    ] = "interval",
    about: Annotated[
        Literal["learner", "rules"],
        typer.Option(help="The learner on samples of this kind, or the rule learnt from this one."),
    ] = "learner",
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, "
            "balanced_accuracy, r2 and others, as in Python.",
        ),
    ] = None,
) -> None:
    """Recommend a test for a number of observations, from a calibration study.

    \b
    Example:
      ucvtest advise --n 60 --loss log --fits 400
      ucvtest advise --n 100 --metric f1 --fits 40
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(advise):
        import ucvtest as uv

        # Reasons name options of the command that carries the test out.
        with through(ShellDoor(options_of(advise) | {"contrast": "--contrast"})):
            advice = uv.advise(
                n, fits, loss=loss, learners=learners, goal=goal, about=about, metric=metric
            )
        _, *reasons = str(advice).splitlines()
        typer.echo(_command(advice))
        typer.echo("\n".join(reasons))


def _command(advice: "Advice") -> str:
    """How the recommended test is run from here."""
    from ucvtest.methods.registry import class_named

    cls = class_named(advice.test)
    other = "" if advice.n_learners == 1 else " --other B"
    question_options = [
        f" --{name} {shlex.quote(advice.settings[name])}"
        for name in ("loss", "metric")
        if name in advice.settings
    ]
    written = [
        f" --{name.replace('_', '-')} {value}"
        for name, value in {**advice.settings, **advice.options}.items()
        if name not in ("design", "loss", "metric")
    ]
    design: Any = advice.settings.get("design")
    if design is not None:
        named = {name: option for option, name in options.DESIGN_OPTIONS.items()}
        written += [
            f" {named[size.name]} {getattr(design, size.name):.4g}"
            for size in dataclasses.fields(design)
            if size.name in named and getattr(design, size.name) != size.default
        ]
    promise = "" if advice.promises else "   (cannot promise: see the reasons)"
    return (
        f"ucvtest compare FILE --target COLUMN --learner A{other}{''.join(question_options)} "
        f"--test {cls.method_name}{''.join(written)}{promise}"
    )
