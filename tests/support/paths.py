"""Where things are."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def data_folder() -> Path:
    """The folder of the real data sets, which are not part of the project and may be missing."""
    return Path(os.environ.get("UCVTEST_DATA", ROOT.parent / "shared" / "data"))
