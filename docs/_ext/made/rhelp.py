"""R's help pages as pages here, rendered by R itself; without R they are left out."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from made.files import Folder

RENDER = """
arguments <- commandArgs(TRUE)
for (file in list.files(arguments[1], pattern = "[.]Rd$", full.names = TRUE))
  tools::Rd2HTML(file, file.path(arguments[2], sub("Rd$", "html", basename(file))),
                 package = "ucvtest", stages = c("build", "install", "render"))
"""

BODY = re.compile(r"<body>(.*)</body>", re.S)
WITHOUT = (
    re.compile(r"<table[^>]*><tr><td>[^<]*</td><td[^>]*>R Documentation</td></tr></table>"),
    re.compile(r"<hr\s*/?><div[^>]*>\[Package.*?</div>", re.S),
    re.compile(r"<script.*?</script>", re.S),
)
TITLE = re.compile(r"<h2[^>]*>(.*?)</h2>", re.S)
LINK = re.compile(r'<a href="[^"]*?(?:library|html)/([\w.]+)\.html">(.*?)</a>', re.S)


def write(pages: Folder, root: Path) -> None:
    """One page for each .Rd file, and the vignette."""
    package = root / "r_bridge" / "ucvtest"
    found = _rendered(package / "man") if shutil.which("Rscript") else {}
    vignette = _vignette((package / "vignettes" / "ucvtest.Rmd").read_text())
    texts = {f"{name}.md": _page(name, html, set(found)) for name, html in found.items()}
    texts |= {"vignette.md": vignette, "index.md": _index(sorted(found))}
    for name, text in texts.items():
        pages.text(name, text)
    pages.without_others(texts)


def _rendered(manual: Path) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "render.R")
        script.write_text(RENDER)
        command = ["Rscript", "--vanilla", str(script), str(manual), folder]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return {path.stem: path.read_text() for path in sorted(Path(folder).glob("*.html"))}


def _page(name: str, html: str, known: set[str]) -> str:
    body = BODY.search(html)
    text = body[1] if body else html
    for pattern in WITHOUT:
        text = pattern.sub("", text)
    title = TITLE.search(text)
    heading = re.sub(r"\s+", " ", title[1]).strip() if title else name
    text = TITLE.sub("", text, count=1)

    def relinked(match: re.Match[str]) -> str:
        target = match[1] if match[1] in known else None
        return f'<a href="{target}.html">{match[2]}</a>' if target else match[2]

    text = LINK.sub(relinked, text)
    # A heading of R's page is one below the title here, and blank lines would end raw HTML.
    text = re.sub(r"\n\s*\n", "\n", text)
    return f'# {name}\n\n{heading}\n\n````{{raw}} html\n<div class="rd">\n{text}\n</div>\n````\n'


def _vignette(text: str) -> str:
    _, head, body = text.split("---\n", 2)
    title = re.search(r'^title: "(.*)"$', head, re.M)
    # What sets the page up is not for readers.
    shown = re.sub(r"^```\{r, include = FALSE\}\n.*?^```\n", "", body, flags=re.M | re.S)
    code = re.sub(r"^```\{r[^}]*\}", "```r", shown, flags=re.M)
    return f"# {title[1] if title else 'Vignette'}\n{code}"


def _index(names: list[str]) -> str:
    if not names:
        return (
            "# Help pages\n\nThese pages were built on a machine without R: `?ustat_test` shows "
            "them in R.\n"
        )
    entries = "\n".join(names)
    return (
        "# Help pages\n\nThe same as `?name` in R.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{entries}\n```\n"
    )
