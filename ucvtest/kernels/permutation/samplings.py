"""How labels are drawn that do not depend on the features."""

from typing import Literal, get_args

from ucvtest.common.checks import check_choice

Sampling = Literal["permutation", "bootstrap", "rademacher"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)


def check_sampling(sampling: str) -> None:
    """Refuse names that are none of `SAMPLINGS`."""
    check_choice("sampling", sampling, SAMPLINGS)
