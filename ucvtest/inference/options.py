"""Options of a fit: each test has a record of them, whose fields declare their ranges."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.checks import check_fields
from ucvtest.inference.arguments import Run


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How fits are run, which every test has."""

    rng: int | np.random.Generator | None = None
    n_jobs: int | None = None
    batch_size: int | None = None
    progress: bool | None = None

    @property
    def own(self) -> dict[str, Any]:
        """The options that are the test's own."""
        shared = Run.__annotations__
        return {name: value for name, value in vars(self).items() if name not in shared}


class FitOptions(RunOptions):
    """The same, and options of a test's own in subclasses, which check themselves."""

    __post_init__ = check_fields
