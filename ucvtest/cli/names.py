"""Names of learners, metrics and tests as they are typed: in lists, and completed by Tab."""

import re
from collections.abc import Iterable


def complete_learner(incomplete: str) -> list[str]:
    """Names of learners that begin so."""
    return [name for name in sorted(_learners()) if name.startswith(incomplete)]


def complete_test(incomplete: str) -> list[str]:
    """Names of tests that begin so."""
    from ucvtest.methods.registry import TESTS

    return [name for name in TESTS if name.startswith(incomplete)]


def listed_learners(option_values: Iterable[str]) -> list[str]:
    """Learners that options name, once each or several with commas between them."""
    names = "|".join(sorted(_learners(), key=len, reverse=True))
    # Arguments of a learner have commas too.
    between = re.compile(rf",\s*(?=(?:{names})(?:[:,]|$))")
    return [name for option_value in option_values for name in between.split(option_value)]


def listed_metrics(option_values: Iterable[str]) -> list[str]:
    """Metrics in the same way; commas within brackets belong to them."""
    return [
        name.strip()
        for option_value in option_values
        for name in re.split(r",(?![^\[(]*[\])])", option_value)
    ]


def listed_tests(names: str) -> list[str]:
    """Tests by their short names, where some are those of classes."""
    from ucvtest.methods.registry import TESTS

    short = {cls.__name__: name for name, cls in TESTS.items()}
    return [short.get(name.strip(), name.strip()) for name in names.split(",")]


def _learners() -> set[str]:
    from ucvtest.learners.adapters.coerce import PATHS, SHORT_NAMES
    from ucvtest.learners.adapters.named import DEFAULTS

    return {*SHORT_NAMES, *PATHS, *DEFAULTS}
