from pathlib import Path

import ucvtest as uv
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

X, y = load_diabetes(return_X_y=True)
models = {"ridge": "ridge", "knn": "knn", "forest": RandomForestRegressor(10)}
if not Path("losses.npz").exists():
    losses = uv.evaluate(models, X[:150], y[:150], cv=5)
    losses.save("losses.npz")

losses = uv.Losses.load("losses.npz")
for other in ("knn", "forest"):
    result = uv.CorrectedTTest.from_losses(losses, "ridge", other, alternative="less").fit()
    print(other, round(result.pvalue, 3))
# forest
