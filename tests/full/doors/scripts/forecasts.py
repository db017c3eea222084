import numpy as np
import pandas as pd
import ucvtest as uv

rng = np.random.default_rng(2)
months = pd.DataFrame({"sales": 50 + np.cumsum(rng.normal(size=72))})
months["last_month"] = months["sales"].shift(1)
months["mean_so_far"] = months["sales"].expanding().mean().shift(1)
months = months.dropna()

losses = uv.Losses.from_predictions("sales", months, loss="squared")
test = uv.DieboldMarianoTest.from_losses(losses, "last_month", "mean_so_far")
print(test.fit(horizon=1).verdict)
# The first learner (last_month) is better
