leave_pair_out_test <- function(x, ...) UseMethod("leave_pair_out_test")

leave_pair_out_test.default <- function(x, y, learner, pvalue = "permutation",
                                        n_permutations = 9999, n_simulations = NULL,
                                        pos_label = NULL, stop_after = NULL, ...) {
  refuse_unknown("leave_pair_out_test.default", ...)
  run_test("LeavePairOutTest", environment(),
           fit = c(list(pvalue = pvalue, n_permutations = n_permutations),
                   without_null(n_simulations = n_simulations, stop_after = stop_after)),
           statistic = "U")
}

leave_pair_out_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(leave_pair_out_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)
