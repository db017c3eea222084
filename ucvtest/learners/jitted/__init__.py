"""Learners that fit thousands of learning sets in one call, one family a module."""
