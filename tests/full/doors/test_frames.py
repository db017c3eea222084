"""Tables of several packages, as people pass them: the same numbers from each."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import ucvtest as uv

RNG = np.random.default_rng(5)
N = 60
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(60, 8, size=N),
        "dose": RNG.normal(size=N),
        "ward": RNG.choice(["north", "south", "west"], size=N),
        "patient": np.repeat(np.arange(N // 2), 2),
        "ill": RNG.choice(["no", "yes"], size=N),
    }
)
NUMBERS = TABLE[["age", "dose"]]


def of_pandas(table):
    return table


def of_pyarrow(table):
    pa = pytest.importorskip("pyarrow")
    return pa.table({name: column.tolist() for name, column in table.items()})


def of_polars(table):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({name: column.tolist() for name, column in table.items()})


PACKAGES = pytest.mark.parametrize("made", [of_pandas, of_pyarrow, of_polars])


def reference(**options):
    test = uv.CorrectedTTest(NUMBERS.to_numpy(), TABLE["ill"].to_numpy(), "lda", "knn:3", **options)
    return test.fit(rng=0)


@PACKAGES
def test_features_response_and_groups(made):
    groups = TABLE["patient"].to_numpy()
    data = made(TABLE)
    test = uv.CorrectedTTest(
        made(NUMBERS), data["ill"], "lda", "knn:3", groups=data["patient"], pos_label="yes"
    )
    found = test.fit(rng=0)
    assert found.estimate == reference(groups=groups, pos_label="yes").estimate


@PACKAGES
def test_columns_are_named(made):
    data = made(TABLE.drop(columns="ward"))
    found = uv.CorrectedTTest(data, "ill", "lda", "knn:3", groups="patient").fit(rng=0)
    assert found.estimate == reference(groups=TABLE["patient"].to_numpy()).estimate
    without = made(TABLE.drop(columns=["ward", "patient"]))
    table = uv.compare(without, "ill", ["lda", "knn:3"], tests="corrected_t", rng=0)
    assert next(iter(table.results.values())).estimate == reference().estimate
    assert uv.evaluate(["lda"], without, "ill", rng=0).learners == ("lda",)


@PACKAGES
def test_a_column_transformer_finds_columns_by_name(made):
    encode = make_column_transformer(
        (OneHotEncoder(), ["ward"]), (StandardScaler(), ["age"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression())
    features = TABLE.drop(columns=["patient", "ill"])
    found = uv.CorrectedTTest(made(features), TABLE["ill"].to_numpy(), model).fit(rng=0)
    expected = uv.CorrectedTTest(features, TABLE["ill"].to_numpy(), model).fit(rng=0)
    assert found.estimate == expected.estimate


@PACKAGES
def test_missing_values_are_dropped(made):
    gaps = TABLE.drop(columns=["ward", "patient"]).astype({"ill": object})
    gaps.loc[3, "age"], gaps.loc[7, "ill"] = np.nan, None
    data = made(gaps)
    found = uv.CorrectedTTest(data, "ill", "lda", "knn:3", missing="drop").fit(rng=0)
    whole = gaps.dropna()
    expected = uv.CorrectedTTest(whole[["age", "dose"]], whole["ill"], "lda", "knn:3").fit(rng=0)
    assert found.estimate == expected.estimate
    assert found.n_obs == N - 2


@PACKAGES
def test_predictions_and_scores(made):
    answers = pd.DataFrame({"y": [0, 1] * 10, "new": [0, 1] * 10, "old": [1] * 20})
    named = uv.Losses.from_predictions("y", made(answers))
    columns = made(answers[["new", "old"]])
    separate = uv.Losses.from_predictions(answers["y"], columns)
    assert named.means.tolist() == separate.means.tolist() == [[0.0], [0.5]]
    scores = made(pd.DataFrame({"a": [0.5, 0.25], "b": [0.75, 1.0]}))
    assert uv.Losses.from_scores(scores, n_learn=10, n_test=10).means.tolist() == [
        [0.5, 0.25],
        [0.75, 1.0],
    ]


def test_a_lazy_table_names_collect():
    pl = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"X is a lazy table of polars.*\.collect\(\)"):
        uv.CorrectedTTest(pl.LazyFrame({"a": [1.0]}), [1], "lda")


def test_rows_without_names_go_with_a_response_that_has_some():
    data = of_pyarrow(NUMBERS)
    y = TABLE["ill"].set_axis(range(100, 100 + N))
    assert uv.CorrectedTTest(data, y, "lda", "knn:3").fit(rng=0).estimate == reference().estimate
