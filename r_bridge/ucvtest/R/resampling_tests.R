# Written by r_bridge/write_tests.py: the tests on the losses of one resampling design.

bayesian_t_spec <- resampling_spec("BayesianTTest", design = 10, fit = alist(rope = NULL))
bayesian_t_test <- function(x, ...) UseMethod("bayesian_t_test")
bayesian_t_test.default <- default_method(bayesian_t_spec)
bayesian_t_test.formula <- formula_method(bayesian_t_test.default)
bayesian_t_test.ucvtest_losses <- losses_method(bayesian_t_spec)

conservative_z_spec <- resampling_spec("ConservativeZTest", design = split_halves())
conservative_z_test <- function(x, ...) UseMethod("conservative_z_test")
conservative_z_test.default <- default_method(conservative_z_spec)
conservative_z_test.formula <- formula_method(conservative_z_test.default)
conservative_z_test.ucvtest_losses <- losses_method(conservative_z_spec)

corrected_t_spec <- resampling_spec("CorrectedTTest", design = 10)
corrected_t_test <- function(x, ...) UseMethod("corrected_t_test")
corrected_t_test.default <- default_method(corrected_t_spec)
corrected_t_test.formula <- formula_method(corrected_t_test.default)
corrected_t_test.ucvtest_losses <- losses_method(corrected_t_spec)

cross_validation_wald_spec <- resampling_spec("CrossValidationWaldTest", design = 10,
    fit = alist(variance = "all_pairs"))
cross_validation_wald_test <- function(x, ...) UseMethod("cross_validation_wald_test")
cross_validation_wald_test.default <- default_method(cross_validation_wald_spec)
cross_validation_wald_test.formula <- formula_method(cross_validation_wald_test.default)
cross_validation_wald_test.ucvtest_losses <- losses_method(cross_validation_wald_spec)

delong_spec <- resampling_spec("DeLongTest", design = hold_out(),
    fit = alist(interval = "auto"), without = c("loss"))
delong_learners_test <- function(x, ...) UseMethod("delong_learners_test")
delong_learners_test.default <- default_method(delong_spec)
delong_learners_test.formula <- formula_method(delong_learners_test.default)
delong_learners_test.ucvtest_losses <- losses_method(delong_spec)

diebold_mariano_spec <- resampling_spec("DieboldMarianoTest",
    design = hold_out(shuffle = FALSE), fit = alist(horizon = 1, variance = "acf"),
    needs_other = TRUE)
diebold_mariano_test <- function(x, ...) UseMethod("diebold_mariano_test")
diebold_mariano_test.default <- default_method(diebold_mariano_spec)
diebold_mariano_test.formula <- formula_method(diebold_mariano_test.default)
diebold_mariano_test.ucvtest_losses <- losses_method(diebold_mariano_spec)

five_by_two_f_spec <- resampling_spec("FiveByTwoFTest", design = k_fold(2, 5),
    without = c("alternative"))
five_by_two_f_test <- function(x, ...) UseMethod("five_by_two_f_test")
five_by_two_f_test.default <- default_method(five_by_two_f_spec)
five_by_two_f_test.formula <- formula_method(five_by_two_f_test.default)
five_by_two_f_test.ucvtest_losses <- losses_method(five_by_two_f_spec)

five_by_two_t_spec <- resampling_spec("FiveByTwoTTest", design = k_fold(2, 5))
five_by_two_t_test <- function(x, ...) UseMethod("five_by_two_t_test")
five_by_two_t_test.default <- default_method(five_by_two_t_spec)
five_by_two_t_test.formula <- formula_method(five_by_two_t_test.default)
five_by_two_t_test.ucvtest_losses <- losses_method(five_by_two_t_spec)

hold_out_spec <- resampling_spec("HoldOutTest", design = hold_out(),
    fit = alist(interval = "auto"))
hold_out_test <- function(x, ...) UseMethod("hold_out_test")
hold_out_test.default <- default_method(hold_out_spec)
hold_out_test.formula <- formula_method(hold_out_test.default)
hold_out_test.ucvtest_losses <- losses_method(hold_out_spec)

mcnemar_spec <- resampling_spec("McNemarTest", design = hold_out(),
    without = c("loss", "null_value"), needs_other = TRUE)
mcnemar_learners_test <- function(x, ...) UseMethod("mcnemar_learners_test")
mcnemar_learners_test.default <- default_method(mcnemar_spec)
mcnemar_learners_test.formula <- formula_method(mcnemar_learners_test.default)
mcnemar_learners_test.ucvtest_losses <- losses_method(mcnemar_spec)

naive_t_spec <- resampling_spec("NaiveTTest", design = 10)
naive_t_test <- function(x, ...) UseMethod("naive_t_test")
naive_t_test.default <- default_method(naive_t_spec)
naive_t_test.formula <- formula_method(naive_t_test.default)
naive_t_test.ucvtest_losses <- losses_method(naive_t_spec)

nested_cross_validation_spec <- resampling_spec("NestedCrossValidationTest",
    design = nested_k_fold())
nested_cross_validation_test <- function(x, ...) UseMethod("nested_cross_validation_test")
nested_cross_validation_test.default <- default_method(nested_cross_validation_spec)
nested_cross_validation_test.formula <- formula_method(nested_cross_validation_test.default)
nested_cross_validation_test.ucvtest_losses <- losses_method(nested_cross_validation_spec)
