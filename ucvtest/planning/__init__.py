"""How many observations: standard error, width and power at other sample sizes."""
