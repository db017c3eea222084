# Every test is a generic with methods for features and response, for a formula and for losses, made
# from its line in tests.R.

# `constructor` and `fit`: arguments of the Python class and of its method fit, with defaults.
# `without`: shared arguments that the test does not take.
test_spec <- function(class, constructor = alist(), fit = alist(), without = character())
  list(class = class, constructor = constructor, fit = fit, without = without)

# Of every test that can use them, in this order: in front of its own arguments, and behind them.
first_arguments <- alist(x = , y = , learner = , other = NULL)
last_arguments <- alist(
  loss = NULL, scoring = NULL, null_value = NULL, alternative = c("two.sided", "less", "greater"),
  conf.level = 0.95, positive = NULL, groups = NULL, group_weight = c("group", "row"),
  weights = NULL, n_jobs = 1, pos_label = NULL, metric = NULL, ... = )

without <- function(arguments, names) arguments[setdiff(names(arguments), names)]

# The method for features `x` and response `y`.
default_method <- function(spec) {
  force(spec)
  method <- function(...) {
    frame <- environment()
    refuse_unknown(...)
    refuse_results(frame)
    refuse_lacking(y = the_response, learner = "name one, such as \"lda\"")
    fields <- ask_of_data("hypothesis_test", test = spec$class, own = names(spec$constructor))
    new_ucvtest(fields, spec$class)
  }
  formals(method) <- c(without(first_arguments, spec$without), spec$constructor, spec$fit,
                       without(last_arguments, spec$without))
  method
}

# The method for losses that exist already, as prediction_losses() makes them.
losses_method <- function(spec) {
  force(spec)
  method <- function(...) {
    frame <- environment()
    refuse_unknown(...)
    fields <- ask_of_losses("hypothesis_test", test = spec$class, losses = frame$x$json)
    new_ucvtest(fields, spec$class)
  }
  # Tests of one learner have losses without groups.
  of_question <- c("alternative", "conf.level", if (!"other" %in% spec$without) "group_weight", "...")
  formals(method) <- c(
    alist(x = , learner = NULL, other = NULL),
    without(last_arguments["null_value"], spec$without),
    spec$constructor[names(spec$constructor) == "contrast"], spec$fit,
    without(last_arguments[of_question], spec$without))
  method
}

# The method for a formula: `default` is the default method, and ... its arguments.
formula_method <- function(default) {
  force(default)
  # What stands behind ... is named, so that learners need not be.
  function(formula, data = environment(formula), ..., subset, na.action = stats::na.pass, groups,
           weights)
    run_formula(default, formula, data, written = if (!missing(data)) substitute(data),
                subset = if (!missing(subset)) column_argument(substitute(subset), subset),
                groups = if (!missing(groups)) column_argument(substitute(groups), groups),
                weights = if (!missing(weights)) column_argument(substitute(weights), weights),
                na.action = na.action, ...)
}

functions_of_test <- function(name) {
  spec <- tests[[name]]
  default <- default_method(spec)
  made <- list(eval(bquote(function(x, ...) UseMethod(.(name))), topenv()), default,
               formula_method(default), losses_method(spec))
  structure(made, names = paste0(name, c("", ".default", ".formula", ".ucvtest_losses")))
}
