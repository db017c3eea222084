"""The tests, one room for each paper, none of which knows another."""
