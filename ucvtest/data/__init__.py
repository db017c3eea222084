"""The observed sample: features, response, and where they come from."""
