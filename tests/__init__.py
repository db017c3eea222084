"""The tests. A package by name, because some libraries install a package `tests` of their own."""
