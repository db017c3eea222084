"""How labels are drawn that do not depend on the features."""

from typing import Literal, get_args

__all__ = ["SAMPLINGS", "Sampling", "check_sampling"]

Sampling = Literal["permutation", "bootstrap", "rademacher"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)


def check_sampling(sampling: str) -> None:
    """Refuse names that are none of `SAMPLINGS`."""
    if sampling not in SAMPLINGS:
        raise ValueError(f"sampling={sampling!r} is unknown: use one of {', '.join(SAMPLINGS)}")
