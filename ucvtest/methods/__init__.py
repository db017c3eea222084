"""The tests, one room for each paper; no room imports another."""
