"""Shares and their limits, as the page on calibration has them."""

from studies.calibration.table import binomial_limits


def percent(share: float) -> str:
    """Without the sign."""
    return f"{100 * share:.1f}"


def range_words(limits: tuple[float, float]) -> str:
    """Both in percent, in brackets."""
    return f"[{percent(limits[0])}, {percent(limits[1])}]"


def rejected_words(rejected: int, tested: int) -> str:
    """The share that was rejected, with its limits."""
    if not tested:
        return "-"
    return f"{percent(rejected / tested)} {range_words(binomial_limits(rejected, tested))}"
