"""The leave-pair-out test of Pahikkala et al. (2025)."""
