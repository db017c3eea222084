"""What people type leads to pages that exist; `make docs` tries it in the built pages."""

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
