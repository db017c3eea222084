"""Notes of results: plain text, or with a line for whoever reads the printed result alone."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from ucvtest.common.words import term

IN_FULL = "summary(notes=True)"
"""What shows all notes."""

MOST_LINES = 3
"""Notes that a printed result shows, one line each."""


class Note(str):
    """A note that the reader of a result has to know.

    The text is the whole note. Printed results show `line` instead; of more than three notes they
    show the most important ones. A note that can wait is plain text, without a line.

    Parameters
    ----------
    text : str
    line : str
        The note in at most 78 characters.
    importance : {2, 1}
        2 if numbers may be wrong (a violated assumption, weak evidence, a budget that ended), 1
        if the reader may stop at them.
    """

    line: str
    importance: int

    def __new__(cls, text: str, line: str, importance: int = 2) -> Self:
        """A text with its line."""
        note = super().__new__(cls, text)
        note.line, note.importance = line, importance
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.line, self.importance)


def reworded(note: str, change: Callable[[str], str]) -> str:
    """A note whose words are changed, in its line too."""
    if not isinstance(note, Note):
        return change(note)
    return Note(change(note), change(note.line), note.importance)


def lines_of(notes: Iterable[str]) -> dict[str, list[Any]]:
    """The lines and their importance by text, as JSON keeps them next to the notes."""
    return {note: [note.line, note.importance] for note in notes if isinstance(note, Note)}


def with_lines(notes: Iterable[str], lines: dict[str, list[Any]]) -> tuple[str, ...]:
    """What `lines_of` was called on."""
    return tuple(Note(note, *lines[note]) if note in lines else note for note in notes)


def in_brief(notes: Sequence[str]) -> list[str]:
    """The lines that a printed result shows, and where to find the notes that it does not show."""
    lines: dict[str, Note] = {}
    with_line = [note for note in notes if isinstance(note, Note)]
    for note in sorted(with_line, key=lambda note: -note.importance):
        if len(lines) < MOST_LINES:
            lines.setdefault(note.line, note)
    n_more, rest = len(notes) - len(lines), term(IN_FULL)
    if not n_more:
        return [*lines, f"Notes in full: {rest}"] if lines else []
    more = " more" if lines else ""
    return [*lines, f"{n_more}{more} note{'s' if n_more > 1 else ''}: {rest}"]
