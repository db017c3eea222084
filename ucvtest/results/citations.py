"""The papers that a result rests on, as BibTeX and in words."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from ucvtest.results.result import TestResult
from ucvtest.stats.interval_rules import ChangedUnits

_OF_A_PLACE = ("author", "title", "year")
_PRINTED = ("journal", "booktitle", "publisher", "howpublished", "volume", "pages", "note")


@dataclass(frozen=True)
class Paper:
    """One entry of the literature.

    Parameters
    ----------
    key : str
        What citations call it, for example "nadeau2003".
    kind : str
        The type of its BibTeX entry.
    fields : mapping
        Author, title, year and where it appeared, as BibTeX has them.
    behind : tuple of mapping
        The results that it is the source of, and the part of each.
    """

    key: str
    kind: str
    fields: Mapping[str, Any]
    behind: tuple[Mapping[str, str], ...] = ()

    @property
    def bibtex(self) -> str:
        """Its BibTeX entry."""
        lines = [f"  {name} = {{{value}}}," for name, value in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    @property
    def text(self) -> str:
        """One line for a list of references."""
        publication = [str(self.fields[name]) for name in _PRINTED if name in self.fields]
        author, title, year = (self.fields[name] for name in _OF_A_PLACE)
        *first_ones, last = str(author).split(" and ")
        authors = f"{', '.join(first_ones)} and {last}" if first_ones else last
        text = f"{authors} ({year}). {title}. {', '.join(publication)}."
        # Without what only BibTeX needs.
        for code, sign in (("{\\v s}", "š"), ("``", '"'), ("''", '"'), ("--", "-")):
            text = text.replace(code, sign)
        return text.replace("{", "").replace("}", "")


@dataclass(frozen=True)
class Citations:
    """The papers behind a result or a comparison, with ucvtest itself at the end.

    Printed, it is a list of references.

    Parameters
    ----------
    papers : tuple of Paper
    """

    papers: tuple[Paper, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """The citation keys, as `TestResult.methods_text` writes them."""
        return tuple(paper.key for paper in self.papers)

    @property
    def bibtex(self) -> str:
        """All BibTeX entries, for a .bib file."""
        return "\n\n".join(paper.bibtex for paper in self.papers) + "\n"

    @property
    def text(self) -> str:
        """One line for each paper."""
        return "\n".join(f"[{paper.key}] {paper.text}" for paper in self.papers)

    def __str__(self) -> str:
        return self.text


def cite(result: Any) -> Citations:
    """The papers that a result rests on, as BibTeX and in words.

    In addition to the paper of the test these are the sources of the interval, of the variance
    and of anything else this result used, such as clusters or a sequential p-value.

    Parameters
    ----------
    result : TestResult, Comparison, NoninferiorityResult or EquivalenceResult
        Of a comparison, the papers of all its results.

    Returns
    -------
    Citations
        Its `text` and `bibtex` are the references in these forms, its `keys` those of `TestResult.methods_text`.

    Raises
    ------
    TypeError
        If it is not one of these.

    Examples
    --------
    >>> import ucvtest as uv
    >>> losses = uv.Losses.from_predictions([0, 1] * 9, {"a": [0, 1] * 9, "b": [0] * 18})
    >>> found = uv.cite(uv.McNemarTest.from_losses(losses).fit())
    >>> found.keys
    ('dietterich1998', 'mcnemar1947', 'fay2021', 'ucvtest')
    >>> print(found.text.splitlines()[1])
    [mcnemar1947] Q. McNemar (1947). Note on the sampling error of the difference between correlated proportions or percentages. Psychometrika, 12, 153-157.
    """  # noqa: E501
    fields = {
        "author": "{The ucvtest developers}",
        "title": "ucvtest: honest statistical tests for learning algorithms on one small data set",
        "note": f"Version {version('ucvtest')}",
        "year": 2026,
    }
    software = Paper("ucvtest", "misc", MappingProxyType(fields))
    keys = getattr(result, "citation_keys", None)
    if isinstance(keys, tuple):
        return Citations((*(paper for paper in all_papers() if paper.key in keys), software))
    results = {"": result} if isinstance(result, TestResult) else getattr(result, "results", None)
    if not isinstance(results, Mapping):
        raise TypeError(
            f"result must be a TestResult or a Comparison, got {type(result).__name__}: "
            "give what fit, uv.compare, noninferiority or equivalence returned"
        )
    return Citations((*papers_behind(results.values()), software))


def papers_behind(results: Iterable[TestResult]) -> tuple[Paper, ...]:
    """The papers of all results, each once, without the software."""
    results = list(results)
    return tuple(
        paper
        for paper in all_papers()
        if any(_conditions_hold(use, result) for result in results for use in paper.behind)
    )


@cache
def all_papers() -> tuple[Paper, ...]:
    """The whole literature of the package."""
    toml_text = resources.files("ucvtest.results").joinpath("papers.toml").read_text("utf-8")
    papers = []
    for entry in tomllib.loads(toml_text)["paper"]:
        key, kind, behind = entry.pop("key"), entry.pop("kind"), entry.pop("behind", [])
        behind = tuple(map(MappingProxyType, behind))
        papers.append(Paper(key, kind, MappingProxyType(entry), behind))
    return tuple(papers)


def _conditions_hold(conditions: Mapping[str, str], result: TestResult) -> bool:
    """Whether a result is one of those that a table [[paper.behind]] describes."""
    if result.settings.get("test") != conditions.get("test", result.settings.get("test")):
        return False
    for name, pattern in conditions.items():
        if name in ("test", "where"):
            continue
        # A field, or a part of one, as text; empty if there is none.
        field, _, attribute = name.partition(".")
        value = getattr(result, field)
        if isinstance(value, ChangedUnits):
            # In other units it is the same method.
            value = value.rule
        if attribute and isinstance(value, Mapping):
            value = value.get(attribute)
        elif attribute:
            value = getattr(value, attribute, None)
        if re.search(pattern, "" if value is None else str(value)) is None:
            return False
    return True
