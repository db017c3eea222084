"""Which test to use, by the calibration table."""

from ucvtest.advice.calibration import calibration_table

__all__ = ["calibration_table"]
