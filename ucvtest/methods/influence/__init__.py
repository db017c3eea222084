"""The test by influence functions, for cross-validated AUC and error."""
