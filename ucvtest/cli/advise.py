"""``ucvtest advise``: which test to run."""

from typing import Annotated, Literal

import typer

from ucvtest.cli.errors import in_options, one_line_errors
from ucvtest.cli.options import LossName

OF_COMPARE = {"contrast": "--contrast"}
"""What reasons advise that is an option of another command."""


def advise(
    n: Annotated[int, typer.Option("--n", help="Observations in the sample.")],
    fits: Annotated[int, typer.Option(help="Model fits that can be afforded.")] = 10_000,
    loss: Annotated[LossName, typer.Option(help="What errors cost.")] = "zero_one",
    learners: Annotated[int, typer.Option(help="1, or 2 that are compared.")] = 2,
    goal: Annotated[
        Literal["test", "interval"], typer.Option(help="What matters most.")
    ] = "interval",
    about: Annotated[
        Literal["learner", "rules"],
        typer.Option(help="The learner on samples of this kind, or the rule learnt from this one."),
    ] = "learner",
) -> None:
    """Recommend a test for a number of observations, from a calibration study.

    \b
    Example:
      ucvtest advise --n 60 --loss log --fits 400
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(advise):
        import ucvtest as uv

        advice = uv.advise(n, fits, loss=loss, learners=learners, goal=goal, about=about)
        typer.echo(in_options(str(advice), OF_COMPARE))
