"""``ucvtest learners``, ``tests`` and ``example``: what there is, and something to try it on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ucvtest.cli.errors import NamesOptions, one_line_errors
from ucvtest.common.whole_files import write_whole

EXAMPLE = Path(__file__).parent / "example.csv"


class ListsTests(NamesOptions):
    """A command whose help lists all tests; they are imported where the help is asked for."""

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        """Write the help, with the tests in the place of ``{tests}``."""
        from ucvtest.methods.registry import TESTS

        # Those that compare first, and of these the valid ones.
        listed = sorted(TESTS.values(), key=lambda cls: (not cls.needs.compares, not cls.valid))
        longest = max(len(name) for name in TESTS)
        lines = (f"  {cls.method_name:<{longest}}  {cls.in_short}" for cls in listed)
        self.help = (self.help or "").replace("{tests}", "\n".join(lines))
        super().format_help_text(ctx, formatter)


def learners() -> None:
    """List the learners that the options --learner and --other know."""
    from ucvtest import learners as factories
    from ucvtest.learners.adapters.coerce import SHORT_NAMES, usage
    from ucvtest.learners.adapters.named import DEFAULTS, meaning

    for name in SHORT_NAMES:
        first_line = (getattr(factories, name).__doc__ or "").strip().partition("\n")[0]
        written = usage(getattr(factories, name)).removeprefix("write '").removesuffix("'")
        typer.echo(f"{written}\n    {first_line}")
    typer.echo("\nWithout arguments, scikit-learn's estimators with their defaults:")
    for name in DEFAULTS:
        typer.echo(f"{name}\n    {meaning(name)}")


def tests() -> None:
    """List all tests, with one line about each."""
    from ucvtest.methods.registry import TESTS

    for name, cls in TESTS.items():
        first_paragraph = " ".join((cls.__doc__ or "").strip().partition("\n\n")[0].split())
        typer.echo(f"{name}{'' if cls.valid else ' (not valid)'}\n    {first_paragraph}")


def example(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="Where to write it.")] = Path(
        "example.csv"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write a small CSV file to try things on: 60 simulated patients, and two models' predictions.

    \b
    Then for example:
      ucvtest compare example.csv --target ill --learner lda --other knn:3 \\
          --drop model_a,model_b
      ucvtest doctor example.csv
      ucvtest predictions example.csv --target ill --scores model_a,model_b \\
          --loss auc --pos-label yes
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(example):
        if file.exists() and not force:
            raise ValueError(f"{file} exists: name another file, or use --force")
        write_whole(file, EXAMPLE.read_bytes())
        typer.echo(f"Written: {file}")
