import ucvtest as uv
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:100], y[:100]
model = make_pipeline(StandardScaler(), LogisticRegression())
folds = StratifiedKFold(5, shuffle=True, random_state=1)
search = GridSearchCV(model, {"logisticregression__C": [0.001, 1.0]}, cv=folds, scoring="accuracy")
search.fit(X, y)

losses = uv.Losses.from_sklearn(search, score="accuracy", y=y)
result = uv.CorrectedTTest.from_losses(losses).fit()
print(result.verdict)
print(result.equivalence(-0.05, 0.05).decision)
# The second learner (logisticregression__C=1.0) is better
