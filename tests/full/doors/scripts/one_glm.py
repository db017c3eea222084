import pandas as pd
import statsmodels.api as sm
import ucvtest as uv


def probit(X_train, y_train, X_test):
    fitted = sm.Probit(y_train, sm.add_constant(X_train)).fit(disp=False)
    return fitted.predict(sm.add_constant(X_test)).to_numpy()


patients = pd.read_csv("example.csv")
X = patients.drop(columns=["ill", "model_a", "model_b"]).select_dtypes("number").iloc[:, :2]
y = (patients["ill"] == "yes").astype(int)
result = uv.CorrectedTTest(X, y, probit, "logistic", loss="log").fit(rng=0)
print(result)
print(uv.cite(result))
# Learners: probit minus logistic
# Nadeau
