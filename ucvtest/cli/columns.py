"""``ucvtest columns``: what predictions would lose without some columns, or gain by them."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

import typer

from ucvtest.cli.compare import AlternativeName
from ucvtest.cli.files import DUMMIES, Sample
from ucvtest.cli.plan import parse_sizes
from ucvtest.cli.report import STDOUT, Printed, width
from ucvtest.data.groups import GroupWeight

NO_COLUMN = "none"
"""What --base takes to name no column."""


@dataclass(frozen=True, kw_only=True)
class Columns(Sample, Printed):
    r"""Tell what a learner's predictions would lose without each column, or block of columns.

    The gain of a block is the loss without it minus the loss with all columns, when learning from
    about half of the rows. With --base each block is added to the base instead. Intervals are
    simultaneous.

    Parameters
    ----------
    learner
        The learner, for example lda or lasso:0.08.
    block : NAME=COL,COL,...
        Columns that belong together, or one column; repeatable. [default: each column; with
        --one-hot each column of the file]
    base : COL,COL,...
        Columns that blocks are added to; none is the best constant prediction ('' where a column
        has this name).
    copies
        Also test that a block carries no information, by this number of permuted copies, 19 or
        more.
    fits
        Fits of each learner. [default: 1000 if they are quick, otherwise 20]
    learn_size : N|N,N,...
        Observations to learn from. [default: half of them, less one, which is also the most]
    scoring
        scikit-learn's name of a score instead of --loss.
    metric : NAME
        A metric that is not a mean of losses, such as f1, mcc or r2.
    alternative
        What to show of gains: greater that a block helps.
    group_weight
        Groups count the same each, or as many as their rows.
    plot : FILE.png
        Draw the gains (or .pdf, .svg).
    notes
        Print all notes.
    methods_text
        Also print a paragraph for the methods section of a paper.

    Examples
    --------
    ucvtest columns heart.csv --target died --learner lda
    ucvtest columns heart.csv --target died --learner lda --loss brier \
        --base age,sex --block crp --block lipids=hdl,ldl
    """

    learner: str
    block: list[str] | None = None
    base: str | None = None
    copies: int = 0
    fits: int | None = None
    learn_size: str | None = None
    scoring: str | None = None
    metric: str | None = None
    alternative: AlternativeName = "two-sided"
    group_weight: GroupWeight = "group"
    plot: Path | None = None
    notes: bool = False
    methods_text: bool = False

    def run(self) -> None:
        """Fit, and print the gains."""
        data = self.read()

        import ucvtest as uv

        X = data[0]
        dummies = X.attrs.get(DUMMIES, {})
        known = {name: [name] for name in X.columns} | dummies
        blocks = _blocks(self.block or [], known)
        base = None if self.base is None else _base(self.base, known)
        if not blocks and dummies:
            of_texts = {column for own in dummies.values() for column in own}
            blocks = {
                name: [*own]
                for name, own in known.items()
                if name not in of_texts and not {*own} & {*(base or ())}
            }
        gains = uv.columns(
            **self.arguments(
                signature(uv.columns).parameters,
                data,
                blocks=blocks or None,
                base=base,
                learn_size=parse_sizes(self.learn_size),
            )
        )
        if self.plot is not None:
            gains.save_plot(self.plot)
        summary = gains.summary(with_verdict=False, notes=self.notes)
        self.tell(gains.to_dict, [gains.verdict], summary.as_text)
        if self.methods_text and self.json != STDOUT:
            typer.echo(f"\n{textwrap.fill(gains.methods_text(), width())}")


Known = Mapping[str, Sequence[str]]
"""The columns behind each name: of texts, their zeros and ones."""


def _columns(listed: str, known: Known) -> list[str]:
    """Columns of a list with commas; a comma may belong to the name."""
    names = [listed] if listed in known else [name.strip() for name in listed.split(",")]
    return [column for name in names if name for column in known.get(name, [name])]


def _base(listed: str, known: Known) -> list[str]:
    """Columns that blocks are added to: none by this word, unless a column has the name."""
    return [] if listed == NO_COLUMN and NO_COLUMN not in known else _columns(listed, known)


def _blocks(typed: Sequence[str], known: Known) -> dict[str, list[str]]:
    """Blocks from NAME=COL,COL, or a column alone."""
    blocks = {}
    for block in typed:
        name, _, listed = block.partition("=")
        if name in blocks:
            raise ValueError(f"block {name} is there twice: give --block names that differ")
        blocks[name] = _columns(listed or name, known)
    return blocks
