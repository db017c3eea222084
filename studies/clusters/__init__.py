"""Tests of learners, of fixed rules and of labels where rows come in clusters."""
