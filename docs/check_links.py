"""Whether every link in the built pages leads somewhere, and no page loads anything from a network.

Run with ``python docs/check_links.py docs/_build/html``, which ``make docs`` does.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements that a browser fetches by itself, with their attribute."""


class Page(HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what one tag says."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(LOADS.get(tag, "")):
            self.loads.append(values[LOADS[tag]])


def problems(folder: Path) -> list[str]:
    """What is wrong in the pages of a folder, one line each."""
    # What the theme keeps among its static files are templates, no pages.
    paths = (path for path in folder.rglob("*.html") if "_static" not in path.parts)
    pages = {path.resolve(): Page(path) for path in sorted(paths)}
    found = []
    for page in pages.values():
        where = page.path.relative_to(folder)
        found += [f"{where} loads {each}" for each in page.loads if _is_remote(each)]
        local = [each for each in (*page.links, *page.loads) if not _is_elsewhere(each)]
        found += [
            f"{where}: {each} leads nowhere" for each in local if not _exists(page, each, pages)
        ]
    return found


def _is_remote(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _is_elsewhere(address: str) -> bool:
    return _is_remote(address) or urlsplit(address).scheme in ("mailto", "data", "javascript")


def _exists(page: Page, address: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    target = page.path.resolve()
    if parts.path:
        target = (target.parent / unquote(parts.path)).resolve()
    if not parts.fragment or target.suffix != ".html":
        return target.exists()
    return target in pages and unquote(parts.fragment) in pages[target].anchors


def main() -> None:
    """Print what is wrong; the exit status says whether something is."""
    found = problems(Path(sys.argv[1]))
    print(
        "\n".join(found) if found else "all links lead somewhere, nothing is loaded from elsewhere"
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
