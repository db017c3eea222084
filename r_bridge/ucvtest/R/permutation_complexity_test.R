permutation_complexity_test <- function(x, ...) UseMethod("permutation_complexity_test")

permutation_complexity_test.default <- function(x, y, learner, n_permutations = 100,
                                                sampling = "permutation", delta = 0.05,
                                                loss = NULL, pos_label = NULL,
                                                stop_after = NULL, ...) {
  refuse_unknown("permutation_complexity_test.default", ...)
  run_test("PermutationComplexityTest", environment(),
           fit = c(list(n_permutations = n_permutations, sampling = sampling, delta = delta),
                   without_null(stop_after = stop_after)),
           statistic = "e_in")
}

permutation_complexity_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(permutation_complexity_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)
