"""Several tests, or several learners, side by side: fitted once, in one table."""
