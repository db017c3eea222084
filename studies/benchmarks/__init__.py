"""How fast and how large the tests are; report.py writes the page on speed."""
