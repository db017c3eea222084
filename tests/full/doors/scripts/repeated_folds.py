import pandas as pd
import ucvtest as uv
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold

X, y = load_iris(return_X_y=True, as_frame=True)
X, y = X[50:].iloc[:, :2], y[50:]
rounds = []
for repeat in range(3):
    kept = pd.DataFrame({"species": y, "repeat": repeat})
    folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        rows = y.index[test]
        kept.loc[rows, "fold"] = fold
        lda = LinearDiscriminantAnalysis().fit(X.iloc[train], y.iloc[train])
        trees = ExtraTreesClassifier(20, random_state=0).fit(X.iloc[train], y.iloc[train])
        kept.loc[rows, "lda"] = lda.predict(X.iloc[test])
        kept.loc[rows, "trees"] = trees.predict(X.iloc[test])
    rounds.append(kept)
predictions = pd.concat(rounds)

losses = uv.Losses.from_predictions("species", predictions, fold="fold", repeat="repeat")
print(losses)
print(uv.CorrectedTTest.from_losses(losses, "lda", "trees").fit().summary(notes=True))
# (14 df)
