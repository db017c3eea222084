# Every test: a generic, and its methods for features and response, for a formula, and for losses
# that exist already.

ustat_spec <- test_spec(
  "UStatisticTest",
  constructor = alist(learn_size = NULL, null_value = NULL, contrast = "difference"),
  fit = alist(n_pairs = "auto", variance = "auto", interval = "auto", tol = 0.05,
              max_fits = NULL, max_seconds = NULL))
ustat_test <- function(x, ...) UseMethod("ustat_test")
ustat_test.default <- default_method(ustat_spec)
ustat_test.formula <- formula_method(ustat_test.default)
ustat_test.ucvtest_losses <- losses_method(ustat_spec)

influence_spec <- test_spec(
  "InfluenceFunctionTest",
  constructor = alist(n_folds = 5, metric = "auc", null_value = NULL),
  fit = alist(n_repeats = "auto", scheme = NULL, variance = "auto", max_fits = NULL,
              max_seconds = NULL), without = "loss")
influence_test <- function(x, ...) UseMethod("influence_test")
influence_test.default <- default_method(influence_spec)
influence_test.formula <- formula_method(influence_test.default)
influence_test.ucvtest_losses <- losses_method(influence_spec)

fold_covariance_spec <- test_spec(
  "FoldCovarianceTest",
  constructor = alist(n_folds = 10, estimator = "cross_validation", null_value = NULL),
  fit = alist(rho = "nadeau_bengio", n_repeats = 1, max_seconds = NULL))
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

corrected_t_spec <- resampling_spec("CorrectedTTest", design = 10)
corrected_t_test <- function(x, ...) UseMethod("corrected_t_test")
corrected_t_test.default <- default_method(corrected_t_spec)
corrected_t_test.formula <- formula_method(corrected_t_test.default)
corrected_t_test.ucvtest_losses <- losses_method(corrected_t_spec)

naive_t_spec <- resampling_spec("NaiveTTest", design = 10)
naive_t_test <- function(x, ...) UseMethod("naive_t_test")
naive_t_test.default <- default_method(naive_t_spec)
naive_t_test.formula <- formula_method(naive_t_test.default)
naive_t_test.ucvtest_losses <- losses_method(naive_t_spec)

conservative_z_spec <- resampling_spec("ConservativeZTest", design = split_halves())
conservative_z_test <- function(x, ...) UseMethod("conservative_z_test")
conservative_z_test.default <- default_method(conservative_z_spec)
conservative_z_test.formula <- formula_method(conservative_z_test.default)
conservative_z_test.ucvtest_losses <- losses_method(conservative_z_spec)

five_by_two_t_spec <- resampling_spec("FiveByTwoTTest", design = k_fold(2, 5))
five_by_two_t_test <- function(x, ...) UseMethod("five_by_two_t_test")
five_by_two_t_test.default <- default_method(five_by_two_t_spec)
five_by_two_t_test.formula <- formula_method(five_by_two_t_test.default)
five_by_two_t_test.ucvtest_losses <- losses_method(five_by_two_t_spec)

five_by_two_f_spec <- resampling_spec("FiveByTwoFTest", design = k_fold(2, 5),
                                      without = "alternative")
five_by_two_f_test <- function(x, ...) UseMethod("five_by_two_f_test")
five_by_two_f_test.default <- default_method(five_by_two_f_spec)
five_by_two_f_test.formula <- formula_method(five_by_two_f_test.default)
five_by_two_f_test.ucvtest_losses <- losses_method(five_by_two_f_spec)

bayesian_t_spec <- resampling_spec("BayesianTTest", design = 10, fit = alist(rope = NULL))
bayesian_t_test <- function(x, ...) UseMethod("bayesian_t_test")
bayesian_t_test.default <- default_method(bayesian_t_spec)
bayesian_t_test.formula <- formula_method(bayesian_t_test.default)
bayesian_t_test.ucvtest_losses <- losses_method(bayesian_t_spec)

hold_out_spec <- resampling_spec("HoldOutTest", design = hold_out())
hold_out_test <- function(x, ...) UseMethod("hold_out_test")
hold_out_test.default <- default_method(hold_out_spec)
hold_out_test.formula <- formula_method(hold_out_test.default)
hold_out_test.ucvtest_losses <- losses_method(hold_out_spec)

wald_spec <- resampling_spec("CrossValidationWaldTest", design = 10,
                             fit = alist(variance = "all_pairs"))
cross_validation_wald_test <- function(x, ...) UseMethod("cross_validation_wald_test")
cross_validation_wald_test.default <- default_method(wald_spec)
cross_validation_wald_test.formula <- formula_method(cross_validation_wald_test.default)
cross_validation_wald_test.ucvtest_losses <- losses_method(wald_spec)

nested_spec <- resampling_spec("NestedCrossValidationTest", design = nested_k_fold())
nested_cross_validation_test <- function(x, ...) UseMethod("nested_cross_validation_test")
nested_cross_validation_test.default <- default_method(nested_spec)
nested_cross_validation_test.formula <- formula_method(nested_cross_validation_test.default)
nested_cross_validation_test.ucvtest_losses <- losses_method(nested_spec)

mcnemar_spec <- resampling_spec("McNemarTest", design = hold_out(),
                                without = c("loss", "null_value"))
mcnemar_learners_test <- function(x, ...) UseMethod("mcnemar_learners_test")
mcnemar_learners_test.default <- default_method(mcnemar_spec)
mcnemar_learners_test.formula <- formula_method(mcnemar_learners_test.default)
mcnemar_learners_test.ucvtest_losses <- losses_method(mcnemar_spec)

delong_spec <- resampling_spec("DeLongTest", design = hold_out(), fit = alist(interval = "auto"),
                               without = "loss")
delong_learners_test <- function(x, ...) UseMethod("delong_learners_test")
delong_learners_test.default <- default_method(delong_spec)
delong_learners_test.formula <- formula_method(delong_learners_test.default)
delong_learners_test.ucvtest_losses <- losses_method(delong_spec)
