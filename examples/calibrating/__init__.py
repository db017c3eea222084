"""Parts of the calibration study; `examples/calibration.py` runs it."""
