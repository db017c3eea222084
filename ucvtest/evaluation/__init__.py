"""Learners fitted on the learning sets of a design, and what they cost where tested."""
