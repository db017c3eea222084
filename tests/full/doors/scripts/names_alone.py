import pandas as pd
import ucvtest as uv

patients = pd.read_csv("example.csv").drop(columns=["model_a", "model_b"])
table = uv.compare(patients, "ill", ["logistic", "svm", "lda"], "corrected_t", rng=0)
print(table.summary(notes=True))
# "svm" without a number behind it is the default of its package, SVC()
