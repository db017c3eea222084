"""Held-out predictions without refitting."""
