# The tests of the papers: a generic, and its methods for features and response, for a formula, and
# for losses that exist already. Those of one resampling design are in resampling_tests.R, which
# r_bridge/write_tests.py writes.

ustat_spec <- test_spec(
  "UStatisticTest",
  constructor = alist(learn_size = NULL, null_value = NULL, contrast = "difference"),
  fit = alist(n_pairs = "auto", variance = "auto", interval = "auto", tol = 0.05,
              max_fits = NULL, max_seconds = NULL, checkpoint = NULL), metrics = TRUE)
ustat_test <- function(x, ...) UseMethod("ustat_test")
ustat_test.default <- default_method(ustat_spec)
ustat_test.formula <- formula_method(ustat_test.default)
ustat_test.ucvtest_losses <- losses_method(ustat_spec)

influence_spec <- test_spec(
  "InfluenceFunctionTest",
  constructor = alist(n_folds = 5, metric = NULL, null_value = NULL),
  fit = alist(n_repeats = "auto", scheme = NULL, variance = "auto", max_fits = NULL,
              max_seconds = NULL))
influence_test <- function(x, ...) UseMethod("influence_test")
influence_test.default <- default_method(influence_spec)
influence_test.formula <- formula_method(influence_test.default)
influence_test.ucvtest_losses <- losses_method(influence_spec)

fold_covariance_spec <- test_spec(
  "FoldCovarianceTest",
  constructor = alist(n_folds = 10, estimator = "cross_validation", null_value = NULL),
  fit = alist(rho = "nadeau_bengio", n_repeats = 1))
fold_covariance_test <- function(x, ...) UseMethod("fold_covariance_test")
fold_covariance_test.default <- default_method(fold_covariance_spec)
fold_covariance_test.formula <- formula_method(fold_covariance_test.default)
fold_covariance_test.ucvtest_losses <- losses_method(fold_covariance_spec)

leave_pair_out_spec <- test_spec(
  "LeavePairOutTest",
  fit = alist(pvalue = "permutation", n_permutations = 9999, n_simulations = NULL,
              stop_after = NULL, max_seconds = NULL),
  without = c("other", "loss", "alternative", "conf.level"), statistic = "U")
leave_pair_out_test <- function(x, ...) UseMethod("leave_pair_out_test")
leave_pair_out_test.default <- default_method(leave_pair_out_spec)
leave_pair_out_test.formula <- formula_method(leave_pair_out_test.default)
leave_pair_out_test.ucvtest_losses <- losses_method(leave_pair_out_spec)

permutation_spec <- test_spec(
  "PermutationComplexityTest",
  fit = alist(n_permutations = 100, sampling = "permutation", delta = 0.05, stop_after = NULL,
              max_seconds = NULL),
  without = c("other", "alternative", "conf.level"), statistic = "e_in")
permutation_complexity_test <- function(x, ...) UseMethod("permutation_complexity_test")
permutation_complexity_test.default <- default_method(permutation_spec)
permutation_complexity_test.formula <- formula_method(permutation_complexity_test.default)
permutation_complexity_test.ucvtest_losses <- losses_method(permutation_spec)
