"""The tests that people use today, each on the losses of one resampling design."""
