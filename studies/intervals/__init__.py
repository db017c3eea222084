"""Coverage of intervals that the calibration study leaves out."""
