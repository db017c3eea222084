import numpy as np
import scipy.sparse
import ucvtest as uv
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
counts = scipy.sparse.random(90, 40, density=0.2, random_state=0, format="csr")
y = np.asarray(counts[:, :5].sum(axis=1)).ravel() + 0.2 * rng.normal(size=90) > 0.5
models = {"logistic": LogisticRegression(), "forest": RandomForestClassifier(10)}
table = uv.compare(counts, y, models, rng=0)
print(table.frame[["learner", "other", "estimate", "pvalue"]])
# logistic
