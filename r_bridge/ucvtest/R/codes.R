# Light constant-weight codes: bounds and critical values of the leave-pair-out test.

light_code_bounds <- function(n_errors, n, weight) {
  refuse_lacking(n_errors = "the number of errors that is not exceeded", n = "the number of observations",
                 weight = "the number of positive ones")
  bounds <- call_python("codes.light_code_bounds", n_errors = n_errors, n = n, weight = weight)
  structure(c(lower = bounds$lower, upper = bounds$upper),
            source = c(lower = bounds$lower_source, upper = bounds$upper_source))
}

critical_values <- function(alpha, n0, n1, method = "supremum", n_simulations = NULL) {
  refuse_lacking(alpha = "the level of the test, such as 0.05", n0 = "the number of negatives",
                 n1 = "the number of positives")
  simulated <- identical(method, "empirical")
  values <- call_python("critical_values", alpha = alpha, n0 = n0, n1 = n1, method = method,
                        n_simulations = n_simulations, rng = if (simulated) draw_seed())
  if (length(n0) == 1L && length(n1) == 1L) return(as.integer(values))
  matrix(as.integer(values), length(n1), length(n0), dimnames = list(n1 = n1, n0 = n0))
}
