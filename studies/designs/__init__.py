"""What a choice between designs is worth."""
