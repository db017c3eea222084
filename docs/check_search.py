"""Whether the search of the built pages finds the page that answers.

Run with ``python docs/check_search.py docs/_build/html``, which ``make docs`` does. The order of
results is that of Sphinx' own search in a browser (searchtools.js): titles, entries of the index,
names of objects, and words of the text, each with its score.
"""

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from sphinx.search.en import SearchEnglish

FIRST = {
    "t test": "methods/corrected_t",
    "paired": "tutorials/two-learners",
    "which test": "choose/index",
    "confidence interval": "start/result",
    "sample size": "tutorials/how-many",
    "excel": "tutorials/tables",
    "auc": "tutorials/auc",
    "f1": "choose/metrics",
    "groups": "tutorials/groups",
    "weights": "tutorials/weights",
    "survival": "tutorials/survival",
    "bayes": "methods/bayesian_t",
    "posterior": "methods/bayesian_t",
    "power": "tutorials/how-many",
    "csv": "tutorials/tables",
    "mlflow": "mlflow/index",
    "R": "r/index",
    "cross-validation": "tutorials/fit-once",
    "best model": "tutorials/many-learners",
    "equivalence": "start/result",
    "missing values": "tutorials/tables",
    "categorical": "tutorials/tables",
    "UStatisticTest": "reference/names/ucvtest.UStatisticTest",
    "from_predictions": "reference/names/ucvtest.Losses",
}
"""The page that has to come first."""

AMONG_FIRST = {
    "McNemar's test": "methods/mcnemar",
    "compare two classifiers": "tutorials/two-learners",
    "confidence intervals": "start/result",
    "how many patients": "tutorials/how-many",
    "non-inferiority margin": "tutorials/gate",
    "permutation": "methods/permutation",
    "roc": "tutorials/curves",
    "sample weights": "tutorials/weights",
    "hold-out test": "methods/hold_out",
    "glossary": "glossary",
}
"""Words that are not in the index as they stand: the page has to be among the first five."""

HIDDEN = ("question_of_losses", "null_by_options", "numbers_of_pairs")
"""Members of the frame around a fit, which no result may be about."""

PARTS = re.compile(r"\W+")

SCORER = (Path(__file__).parent / "_ext" / "scorer.js").read_text(encoding="utf-8")
PLACES: dict[str, int] = json.loads(SCORER.partition("PLACES = ")[2].partition(";")[0])
"""What is added to the score of a page."""


class Found(NamedTuple):
    """One result."""

    score: int
    title: str
    page: str
    anchor: str
    is_object: bool = False


class Search:
    """The index of the built pages."""

    def __init__(self, folder: Path) -> None:
        text = (folder / "searchindex.js").read_text(encoding="utf-8")
        self._index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
        self._language = SearchEnglish({})

    def results(self, query: str) -> list[Found]:
        """Best first."""
        typed = query.lower().strip()
        main, others = self._entries(typed)
        found = [*self._titles(typed), *main]
        words = list(dict.fromkeys(each for each in PARTS.split(typed) if each))
        for word in words:
            found += self._objects(word, words)
        stems = [
            self._language.stem(word)
            for word in words
            if word not in self._language.stopwords and not word.isdigit()
        ]
        found += self._terms(list(dict.fromkeys(stems)))
        best: dict[tuple[str, str, str], Found] = {}
        for each in (*_ordered(map(_placed, found)), *_ordered(map(_placed, others))):
            best.setdefault((each.page, each.anchor, each.title), each)
        return list(best.values())

    def _titles(self, typed: str) -> list[Found]:
        found = []
        for title, places in self._index["alltitles"].items():
            if typed in title.lower() and len(typed) >= len(title) / 2:
                for file, anchor in places:
                    boost = self._index["titles"][file] == title
                    score = _round(15 * len(typed) / len(title)) + boost
                    found.append(self._found(file, score, title, anchor or ""))
        return found

    def _entries(self, typed: str) -> tuple[list[Found], list[Found]]:
        main, others = [], []
        for entry, places in self._index["indexentries"].items():
            if typed in entry and len(typed) >= len(entry) / 2:
                for file, anchor, is_main in places:
                    score = _round(100 * len(typed) / len(entry))
                    title = self._index["titles"][file]
                    (main if is_main else others).append(self._found(file, score, title, anchor))
        return main, others

    def _objects(self, word: str, words: list[str]) -> list[Found]:
        found = []
        for prefix, members in self._index["objects"].items():
            for file, kind, priority, _, name in members:
                full = f"{prefix}.{name}" if prefix else name
                last = full.lower().rpartition(".")[2]
                if word not in full.lower():
                    continue
                title = self._index["titles"][file]
                about = f"{prefix} {name} {self._index['objnames'][str(kind)][2]} {title}".lower()
                if any(other not in about for other in words if other != word):
                    continue
                matched = 11 if word in (full.lower(), last) else 6 if word in last else 0
                score = matched + {0: 15, 1: 5, 2: -5}.get(priority, 0)
                found.append(self._found(file, score, full, full)._replace(is_object=True))
        return found

    def _terms(self, stems: list[str]) -> list[Found]:
        scores: dict[int, dict[str, int]] = {}
        for stem in stems:
            for key, whole, part in (("terms", 5, 2), ("titleterms", 15, 7)):
                table = self._index[key]
                if stem in table:
                    matches = [(table[stem], whole)]
                elif len(stem) > 2:
                    matches = [(files, part) for term, files in table.items() if stem in term]
                else:
                    matches = []
                for files, score in matches:
                    for file in [files] if isinstance(files, int) else files:
                        scores.setdefault(file, {})[stem] = score
        long = sum(len(stem) > 2 for stem in stems)
        return [
            self._found(file, max(by_stem.values()), self._index["titles"][file], "")
            for file, by_stem in scores.items()
            if len(by_stem) in (len(stems), long)
        ]

    def _found(self, file: int, score: int, title: str, anchor: str) -> Found:
        return Found(score, title, self._index["docnames"][file], anchor)


def _round(value: float) -> int:
    """As Math.round does."""
    return int(value + 0.5)


def _placed(found: Found) -> Found:
    """With the score that docs/_ext/scorer.js gives."""
    place = next((each for each in PLACES if found.page.startswith(each)), None)
    if place is None or found.is_object:
        return found
    return found._replace(score=found.score + PLACES[place])


def _ordered(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda each: (-each.score, each.title.lower()))


def pages(found: list[Found]) -> list[str]:
    """The pages of results, each once."""
    return list(dict.fromkeys(each.page for each in found))


def problems(folder: Path) -> list[str]:
    """What is not found, one line each."""
    search = Search(folder)
    lost = []
    expected: list[tuple[dict[str, str], int]] = [(FIRST, 1), (AMONG_FIRST, 5)]
    for table, places in expected:
        for query, page in table.items():
            found = pages(search.results(query))[:places]
            if page not in found:
                lost.append(f"{query!r} finds {', '.join(found) or 'nothing'} before {page}")
    lost += [
        f"{name!r} finds {each.title}"
        for name in HIDDEN
        for each in search.results(name)
        if each.title.endswith(f".{name}")
    ]
    return lost


def main() -> None:
    """Print what is not found; the exit status says whether something is not."""
    lost = problems(Path(sys.argv[1]))
    print("\n".join(lost) if lost else f"all {len(FIRST) + len(AMONG_FIRST)} searches find")
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
