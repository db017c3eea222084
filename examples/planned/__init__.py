"""What the study of planning consists of: problems, simulations, tables."""
