"""The test from the decomposition of K-fold variance by Bengio and Grandvalet."""
