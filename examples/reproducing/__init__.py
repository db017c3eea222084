"""Parts of the scripts whose names begin with `reproduce_`."""
