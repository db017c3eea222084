"""Which test to use, by the calibration table."""
