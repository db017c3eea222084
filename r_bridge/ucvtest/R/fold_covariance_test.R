fold_covariance_test <- function(x, ...) UseMethod("fold_covariance_test")

fold_covariance_test.default <- function(x, y, learner, other = NULL, n_folds = 10,
                                         rho = "nadeau_bengio", n_repeats = 1,
                                         estimator = "cross_validation", loss = NULL,
                                         null_value = NULL,
                                         alternative = c("two.sided", "less", "greater"),
                                         conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("fold_covariance_test.default", ...)
  run_test("FoldCovarianceTest", environment(),
           constructor = list(n_folds = n_folds, estimator = estimator, null_value = null_value),
           fit = list(rho = rho, n_repeats = n_repeats))
}

fold_covariance_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(fold_covariance_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)
