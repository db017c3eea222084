import numpy as np
import pandas as pd
import ucvtest as uv
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(4)
people = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "income", "hours"])
people["votes"] = (people["age"] + rng.normal(size=120) > 0).map({True: "yes", False: "no"})
people["design_weight"] = rng.uniform(0.5, 2.5, size=120)

table = uv.compare(
    people,
    "votes",
    [LogisticRegression(), DecisionTreeClassifier(max_depth=3)],
    weights="design_weight",
    rng=0,
)
print(table)
# difference in weighted error rate
# (rules learnt with weights)
