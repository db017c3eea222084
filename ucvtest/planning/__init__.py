"""Planning of sample sizes: standard error, width and power at other sample sizes."""
