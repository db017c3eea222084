"""A result as one page of HTML, with the picture inside."""

import base64
import html
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.results.result import TestResult

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font-family: system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
.verdict {{ font-size: 1.15rem; border-left: .3rem solid #36c; padding-left: .8rem; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }}
img {{ max-width: 100%; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<footer><small>Made by ucvtest {version}.</small></footer>
</body>
</html>
"""


def as_page(
    outcome: "TestResult | Comparison", alpha: float, verdict: str, answers: Iterable[str] = ()
) -> str:
    """Verdict, answers about a margin, picture, tables, methods and references."""
    from ucvtest import __version__
    from ucvtest.results.citations import cite

    results: Mapping[Any, TestResult] = getattr(outcome, "results", {"": outcome})
    methods = dict.fromkeys(result.methods_text() for result in results.values())
    parts = [
        f'<p class="verdict">{html.escape(verdict)}</p>',
        *map(_paragraph, answers),
        _picture(outcome, alpha),
        outcome.summary(alpha, with_verdict=False, notes=True).as_html(),
        "<h2>Methods</h2>",
        *map(_paragraph, methods),
        "<h2>References</h2>",
        *map(_paragraph, cite(outcome).text.splitlines()),
    ]
    single = next(iter(results.values())).method
    title = single if len(results) == 1 else "Comparison of learners"
    return PAGE.format(title=html.escape(title), body="\n".join(parts), version=__version__)


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>" if text.strip() else ""


def _picture(outcome: "TestResult | Comparison", alpha: float) -> str:
    """The plot as part of the page; nothing where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return ""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        outcome.save_plot(path, alpha=alpha)
        encoded = base64.b64encode(path.read_bytes()).decode()
    return f'<img alt="The estimates with their intervals" src="data:image/png;base64,{encoded}">'
