influence_test <- function(x, ...) UseMethod("influence_test")

influence_test.default <- function(x, y, learner, other = NULL, n_folds = 5, metric = "auc",
                                   n_repeats = "auto", scheme = "monte_carlo",
                                   variance = "auto", null_value = NULL,
                                   alternative = c("two.sided", "less", "greater"),
                                   conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("influence_test.default", ...)
  run_test("InfluenceFunctionTest", environment(),
           constructor = list(n_folds = n_folds, metric = metric, null_value = null_value),
           fit = list(n_repeats = n_repeats, scheme = scheme, variance = variance))
}

influence_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(influence_test.default, formula, data, if (!missing(data)) substitute(data), ...)
