"""``ucvtest learners``, ``tests`` and ``example``: what there is, and something to try it on."""

from pathlib import Path

import typer

from ucvtest.common.whole_files import write_whole

EXAMPLE = Path(__file__).parent / "example.csv"


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


def example(*, file: Path = Path("example.csv"), force: bool = False) -> None:
    r"""Write a small CSV file to try things on: 60 simulated patients, and two models' predictions.

    Parameters
    ----------
    file : FILE.csv
        Where to write it.
    force
        Replace the file if it exists.

    Examples
    --------
    ucvtest compare example.csv --target ill --learner lda --other knn:3 \
        --drop model_a,model_b
    ucvtest doctor example.csv
    ucvtest predictions example.csv --target ill --scores model_a,model_b \
        --loss auc --pos-label yes
    """
    if file.exists() and not force:
        raise ValueError(f"{file} exists: name another file, or use --force")
    write_whole(file, EXAMPLE.read_bytes())
    typer.echo(f"Written: {file}")
