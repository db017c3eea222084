"""One address leads to the source, to "edit" and to the lines of every name."""

import re
import sys

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from publisher import Publisher, without_edit

ADDRESS = "https://example.org/somebody/ucvtest"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> Publisher:
    monkeypatch.setenv("UCVTEST_SOURCE", f"{ADDRESS}/")
    return Publisher(ROOT)


def test_lines_of_a_name_are_those_of_its_definition(published: Publisher) -> None:
    found = published.source_of("py", {"module": "ucvtest", "fullname": "UStatisticTest"})
    path, first, last = re.fullmatch(rf"{ADDRESS}/blob/main/(.+)#L(\d+)-L(\d+)", found).groups()
    lines = (ROOT / path).read_text().splitlines()[int(first) - 1 : int(last)]
    assert any(line.startswith("class UStatisticTest(") for line in lines[:3])


@pytest.mark.parametrize("name", ["compare", "TestResult.conf_int", "UStatisticTest.disjoint"])
def test_functions_methods_and_properties_have_lines(published: Publisher, name: str) -> None:
    found = published.source_of("py", {"module": "ucvtest", "fullname": name})
    assert found.startswith(f"{ADDRESS}/blob/main/ucvtest/")


@pytest.mark.parametrize("name", ["TestResult.estimate", "losses.LOSSES", "no.such.name"])
def test_data_have_none(published: Publisher, name: str) -> None:
    assert published.source_of("py", {"module": "ucvtest", "fullname": name}) is None


def test_pages_that_are_made_cannot_be_edited(published: Publisher) -> None:
    assert published.extensions == ["sphinx.ext.linkcode", "publisher"]
    assert "edit-this-page" in published.theme_options["article_footer_items"]
    for page, is_made in {"r/index": False, "reference/names/ucvtest.plan": True}.items():
        context = {"theme_use_edit_page_button": True}
        without_edit(None, page, "", context, None)
        assert context["theme_use_edit_page_button"] != is_made
    assert published.html_context["edit_page_url_template"].startswith(f"{ADDRESS}/edit/main/docs/")


def test_without_an_address_no_link_leads_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UCVTEST_SOURCE", raising=False)
    nobody = Publisher(ROOT)
    if nobody.address:
        pytest.skip("it is published")
    assert nobody.extensions == []
    assert nobody.html_context == {}
    assert "use_edit_page_button" not in nobody.theme_options
