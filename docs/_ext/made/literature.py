"""The bibliography, from the literature that `uv.cite` knows."""

from made.files import Folder
from ucvtest.methods.registry import TESTS
from ucvtest.results.citations import all_papers


def write(parts: Folder) -> None:
    """references.bib, and the papers of each test with what is used of them."""
    papers = all_papers()
    parts.text("references.bib", "\n\n".join(paper.bibtex for paper in papers) + "\n")
    for test in TESTS:
        lines = [
            f"- {{footcite:t}}`{paper.key}`: {each['where']}."
            for paper in papers
            for each in paper.behind
            if each.get("test") == test
        ]
        parts.text(
            f"references_{test}.md", "\n".join([*lines, "", "```{footbibliography}", "```", ""])
        )
