"""The U-statistic test of the AUC: learning sets within the classes, pairs instead of losses."""
