"""What people type leads to pages that exist; `make docs` tries it in the built pages."""

import json
import sys
from collections import Counter

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import script

pytest.importorskip("sphinx", reason="of the documentation alone")
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from findable import WORDS

check_search = script("docs/check_search.py")
DOCS = ROOT / "docs"
INDEX = {
    "docnames": ["tutorials/a", "reference/b", "changelog"],
    "titles": ["Two learners", "b", "Changelog"],
    "alltitles": {"Two learners": [[0, None]], "Changelog": [[2, None]]},
    "indexentries": {"paired": [[0, "", True]], "paired() (in module b)": [[1, "b.paired", False]]},
    "objects": {"b": [[1, 0, 1, "", "paired"], [1, 0, 1, "", "unpaired"]]},
    "objnames": {"0": ["py", "function", "Python function"]},
    "terms": {"pair": [0, 1, 2], "learner": [1, 2]},
    "titleterms": {"learner": 0, "two": 0},
}


def results(tmp_path, query):
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(INDEX)})")
    return check_search.Search(tmp_path).results(query)


def test_main_entries_of_the_index_come_first(tmp_path):
    first, *others = results(tmp_path, "paired")
    assert (first.page, first.score) == ("tutorials/a", 100 + check_search.PLACES["tutorials/"])
    names = [each.title for each in others if each.is_object]
    assert names == ["b.paired", "b.unpaired"]
    assert others[-1].page in {"changelog", "reference/b"}


def test_titles_count_more_than_texts_and_tutorials_more_than_the_changelog(tmp_path):
    found = results(tmp_path, "learners")
    assert check_search.pages(found) == ["tutorials/a", "reference/b", "changelog"]
    scores = [each.score for each in found if not each.is_object]
    assert scores == sorted(scores, reverse=True)


def test_all_words_have_to_be_there(tmp_path):
    assert [each.page for each in results(tmp_path, "two pairs")] == ["tutorials/a"]
    assert results(tmp_path, "nowhere") == []


def test_words_lead_to_pages_and_each_to_one():
    for place in WORDS:
        assert (DOCS / f"{place.partition('#')[0]}.md").is_file(), place
    counts = Counter(word for words in WORDS.values() for word in words)
    assert [word for word, number in counts.items() if number > 1] == []
    assert [word for word in counts if word != word.lower()] == []


def test_pages_that_have_to_be_found_exist():
    for page in {*check_search.FIRST.values(), *check_search.AMONG_FIRST.values()}:
        assert page.startswith("reference/names/") or (DOCS / f"{page}.md").is_file()
    assert len(check_search.FIRST) >= 20
