ustat_test <- function(x, ...) UseMethod("ustat_test")

ustat_test.default <- function(x, y, learner, other = NULL, learn_size = NULL,
                               n_pairs = "auto", variance = "auto", interval = "auto",
                               loss = NULL,
                               null_value = NULL,
                               alternative = c("two.sided", "less", "greater"),
                               conf.level = 0.95, tol = 0.05, max_fits = NULL,
                               pos_label = NULL, contrast = "difference", ...) {
  refuse_unknown("ustat_test.default", ...)
  run_test("UStatisticTest", environment(),
           constructor = list(learn_size = learn_size, null_value = null_value,
                              contrast = contrast),
           fit = list(n_pairs = n_pairs, variance = variance, interval = interval, tol = tol,
                      max_fits = max_fits))
}

ustat_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(ustat_test.default, formula, data, if (!missing(data)) substitute(data), ...)
