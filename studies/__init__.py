"""Studies of what the tests promise: README.md has a line on each."""
