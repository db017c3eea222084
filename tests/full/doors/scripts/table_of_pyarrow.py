import pyarrow.csv
import ucvtest as uv

patients = pyarrow.csv.read_csv("example.csv").drop_columns(["model_a", "model_b"])
result = uv.UStatisticTest(patients, "ill", "lda", "knn:5").fit(n_pairs=200, rng=1)
statistic, p = result
print(f"t = {statistic:.2f}, p = {p:.3f}")
# t =
