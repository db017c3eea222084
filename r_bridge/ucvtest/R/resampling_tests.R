# The tests on the losses of one resampling design: each has the same arguments, and perhaps
# options of its own.

run_resampling <- function(class, frame, fit = list())
  run_test(class, frame, fit = fit,
           constructor = list(design = as_design(frame$design), null_value = frame$null_value))

corrected_t_test <- function(x, ...) UseMethod("corrected_t_test")

corrected_t_test.default <- function(x, y, learner, other = NULL, design = 10, loss = NULL,
                                     null_value = NULL,
                                     alternative = c("two.sided", "less", "greater"),
                                     conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("corrected_t_test.default", ...)
  run_resampling("CorrectedTTest", environment())
}

corrected_t_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(corrected_t_test.default, formula, data, if (!missing(data)) substitute(data), ...)

naive_t_test <- function(x, ...) UseMethod("naive_t_test")

naive_t_test.default <- function(x, y, learner, other = NULL, design = 10, loss = NULL,
                                 null_value = NULL,
                                 alternative = c("two.sided", "less", "greater"),
                                 conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("naive_t_test.default", ...)
  run_resampling("NaiveTTest", environment())
}

naive_t_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(naive_t_test.default, formula, data, if (!missing(data)) substitute(data), ...)

conservative_z_test <- function(x, ...) UseMethod("conservative_z_test")

conservative_z_test.default <- function(x, y, learner, other = NULL,
                                        design = split_halves(), loss = NULL,
                                        null_value = NULL,
                                        alternative = c("two.sided", "less", "greater"),
                                        conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("conservative_z_test.default", ...)
  run_resampling("ConservativeZTest", environment())
}

conservative_z_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(conservative_z_test.default, formula, data, if (!missing(data)) substitute(data), ...)

five_by_two_t_test <- function(x, ...) UseMethod("five_by_two_t_test")

five_by_two_t_test.default <- function(x, y, learner, other = NULL, design = k_fold(2, 5),
                                       loss = NULL, null_value = NULL,
                                       alternative = c("two.sided", "less", "greater"),
                                       conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("five_by_two_t_test.default", ...)
  run_resampling("FiveByTwoTTest", environment())
}

five_by_two_t_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(five_by_two_t_test.default, formula, data, if (!missing(data)) substitute(data), ...)

five_by_two_f_test <- function(x, ...) UseMethod("five_by_two_f_test")

five_by_two_f_test.default <- function(x, y, learner, other = NULL, design = k_fold(2, 5),
                                       loss = NULL, null_value = NULL, conf.level = 0.95,
                                       pos_label = NULL, ...) {
  refuse_unknown("five_by_two_f_test.default", ...)
  run_resampling("FiveByTwoFTest", environment())
}

five_by_two_f_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(five_by_two_f_test.default, formula, data, if (!missing(data)) substitute(data), ...)

bayesian_t_test <- function(x, ...) UseMethod("bayesian_t_test")

bayesian_t_test.default <- function(x, y, learner, other = NULL, design = 10, rope = NULL,
                                    loss = NULL, null_value = NULL,
                                    alternative = c("two.sided", "less", "greater"),
                                    conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("bayesian_t_test.default", ...)
  run_resampling("BayesianTTest", environment(), fit = list(rope = rope))
}

bayesian_t_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(bayesian_t_test.default, formula, data, if (!missing(data)) substitute(data), ...)

hold_out_test <- function(x, ...) UseMethod("hold_out_test")

hold_out_test.default <- function(x, y, learner, other = NULL, design = hold_out(),
                                  loss = NULL, null_value = NULL,
                                  alternative = c("two.sided", "less", "greater"),
                                  conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("hold_out_test.default", ...)
  run_resampling("HoldOutTest", environment())
}

hold_out_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(hold_out_test.default, formula, data, if (!missing(data)) substitute(data), ...)

cross_validation_wald_test <- function(x, ...) UseMethod("cross_validation_wald_test")

cross_validation_wald_test.default <- function(x, y, learner, other = NULL, design = 10,
                                               variance = "all_pairs", loss = NULL,
                                               null_value = NULL,
                                               alternative = c("two.sided", "less", "greater"),
                                               conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("cross_validation_wald_test.default", ...)
  run_resampling("CrossValidationWaldTest", environment(), fit = list(variance = variance))
}

cross_validation_wald_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(cross_validation_wald_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)

nested_cross_validation_test <- function(x, ...) UseMethod("nested_cross_validation_test")

nested_cross_validation_test.default <- function(x, y, learner, other = NULL,
                                                 design = nested_k_fold(), loss = NULL,
                                                 null_value = NULL,
                                                 alternative = c("two.sided", "less", "greater"),
                                                 conf.level = 0.95, pos_label = NULL,
                                                 ...) {
  refuse_unknown("nested_cross_validation_test.default", ...)
  run_resampling("NestedCrossValidationTest", environment())
}

nested_cross_validation_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(nested_cross_validation_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)

mcnemar_learners_test <- function(x, ...) UseMethod("mcnemar_learners_test")

mcnemar_learners_test.default <- function(x, y, learner, other, design = hold_out(),
                                          alternative = c("two.sided", "less", "greater"),
                                          conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("mcnemar_learners_test.default", ...)
  if (missing(other)) stop_user("'other' is missing: the test compares two learners")
  run_resampling("McNemarTest", environment())
}

mcnemar_learners_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(mcnemar_learners_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)

delong_learners_test <- function(x, ...) UseMethod("delong_learners_test")

delong_learners_test.default <- function(x, y, learner, other = NULL, design = hold_out(),
                                         null_value = NULL,
                                         alternative = c("two.sided", "less", "greater"),
                                         conf.level = 0.95, pos_label = NULL, ...) {
  refuse_unknown("delong_learners_test.default", ...)
  run_resampling("DeLongTest", environment())
}

delong_learners_test.formula <- function(formula, data = environment(formula), ...)
  run_formula(delong_learners_test.default, formula, data,
              if (!missing(data)) substitute(data), ...)
