"""Learners fitted on the learning sets of a design, and their losses on its test sets."""
