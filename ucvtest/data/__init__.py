"""The observed sample: features, response, and how they are read."""
