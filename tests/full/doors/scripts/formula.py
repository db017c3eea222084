import pandas as pd
import ucvtest as uv

patients = pd.read_csv("example.csv")
names = [name for name in patients.columns if name not in ("ill", "model_a", "model_b")]
formula = "ill ~ " + " + ".join(names[:2])
result = uv.CorrectedTTest.from_formula(formula, patients, "logistic", "knn:5").fit(rng=0)
print(result.summary(alpha=0.1))
print(result.conf_int(0.1))
# 90% low
