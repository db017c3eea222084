# What all tests share: a test is described once, and its methods are made from that.

# `constructor` and `fit`: arguments of the Python class and of its method fit, with defaults.
# `without`: shared arguments that the test does not take. `statistic`: the name of a statistic
# that is neither t nor z. `needs_other`: whether there must be two learners. `metrics`: whether it
# takes a metric in the place of a loss.
test_spec <- function(class, constructor = alist(), fit = alist(), without = character(),
                      statistic = "statistic", needs_other = FALSE, metrics = FALSE)
  list(class = class, constructor = constructor, fit = fit, without = without,
       statistic = statistic, needs_other = needs_other, metrics = metrics)

# The tests on the losses of one resampling design.
resampling_spec <- function(class, design, fit = alist(), without = character(),
                            needs_other = FALSE) {
  constructor <- list(design = substitute(design), null_value = NULL)
  test_spec(class, constructor[setdiff(names(constructor), without)], fit, without,
            # What Python's diagnostics call the number of errors of the first rule alone.
            statistic = if (class == "McNemarTest") "only_first_wrong" else "statistic",
            needs_other = needs_other, metrics = !"loss" %in% without)
}

# Of every test that can use them; each is passed on where it is not "without".
shared_arguments <- function(spec) {
  shared <- alist(other = NULL, loss = NULL, scoring = NULL,
                  alternative = c("two.sided", "less", "greater"), conf.level = 0.95)
  without <- c(spec$without, if ("loss" %in% spec$without) "scoring")
  shared[setdiff(names(shared), without)]
}

# The method for features `x` and response `y`.
default_method <- function(spec) {
  force(spec)
  method <- function(...) {
    refuse_unknown(...)
    run_test(spec, environment())
  }
  shared <- shared_arguments(spec)
  formals(method) <- c(
    alist(x = , y = , learner = ), shared["other" == names(shared)],
    spec$constructor[names(spec$constructor) != "null_value"], spec$fit,
    shared[names(shared) %in% of_losses],
    spec$constructor[names(spec$constructor) == "null_value"],
    shared[!names(shared) %in% c("other", of_losses)],
    alist(positive = NULL, groups = NULL, group_weight = c("group", "row"), weights = NULL,
          n_jobs = 1, pos_label = NULL),
    if (spec$metrics) alist(metric = NULL), alist(... = ))
  method
}

# What errors cost, one or the other.
of_losses <- c("loss", "scoring")

# The method for losses that exist already, as prediction_losses() makes them.
losses_method <- function(spec) {
  force(spec)
  method <- function(...) {
    refuse_unknown(...)
    run_on_losses(spec, environment())
  }
  shared <- shared_arguments(spec)
  about <- spec$constructor[names(spec$constructor) %in% c("null_value", "contrast")]
  judged <- shared[!names(shared) %in% c("other", of_losses)]
  formals(method) <- c(
    alist(x = , learner = NULL, other = NULL), about, spec$fit, judged,
    if (!spec$class %in% of_no_clusters) alist(group_weight = c("group", "row")), alist(... = ))
  method
}

# Tests whose losses carry no groups.
of_no_clusters <- c("LeavePairOutTest", "PermutationComplexityTest")

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

# `frame` is that of a default method.
run_test <- function(spec, frame) with_workers(frame$n_jobs, run_here(spec, frame))

run_here <- function(spec, frame) {
  given <- function(name) get0(name, frame, inherits = FALSE)
  refuse_results(frame)
  if (eval(quote(missing(y)), frame))
    stop_user("'y' is missing: give the response, or a formula and data")
  if (eval(quote(missing(learner)), frame))
    stop_user("'learner' is missing: name one, such as \"lda\"")
  if (spec$needs_other && is.null(frame$other))
    stop_user("'other' is missing: the test compares two learners")
  sample <- as_sample(frame$x, frame$y, as_positive(given("positive"), given("pos_label")), frame$groups,
                      written_in("x", frame), written_in("y", frame), frame$weights,
                      if (spec$metrics) frame$metric, given("scoring"))
  learners <- list(as_learner(frame$learner, "learner", written_in("learner", frame), sample))
  if (!is.null(given("other")))
    learners[[2L]] <- as_learner(frame$other, "other", written_in("other", frame), sample)
  constructor <- c(mget_arguments(spec$constructor, frame), read_alternative(spec, frame),
                   list(pos_label = positive_of(sample, if (spec$metrics) frame$metric,
                                                given("scoring")),
                        groups = sample$groups, group_weight = as_group_weight(frame$group_weight)))
  if (!"loss" %in% spec$without) {
    constructor <- c(constructor, loss_or_metric(
      frame$loss, if (spec$metrics) frame$metric, sample$response, sample$labels))
    constructor["scoring"] <- list(
      as_scoring(frame$scoring, sample$response, written_in("scoring", frame)))
  }
  if (!is.null(constructor$design)) constructor$design <- as_design(constructor$design, nrow(sample$x))
  fit <- c(mget_arguments(spec$fit, frame), list(rng = draw_seed()))
  fit$checkpoint <- as_file(fit$checkpoint)
  fields <- call_python("hypothesis_test", test = spec$class, x = sample$x, y = sample$y,
                        learners = learners, constructor = constructor, fit = fit,
                        conf_level = read_level(frame))
  new_ucvtest(fields, sample$name, spec$statistic)
}

# Where nobody says it, the losses decide how much clusters count.
run_on_losses <- function(spec, frame) {
  constructor <- c(
    mget_arguments(spec$constructor[names(spec$constructor) %in% c("null_value", "contrast")],
                   frame),
    read_alternative(spec, frame),
    if (!spec$class %in% of_no_clusters && !eval(quote(missing(group_weight)), frame))
      list(group_weight = as_group_weight(frame$group_weight)))
  learners <- Filter(Negate(is.null), list(learner = frame$learner, other = frame$other))
  fields <- call_python("test_of_losses", test = spec$class, losses = frame$x$json,
                        learners = by_place(learners, length(frame$x$learners)),
                        constructor = constructor, fit = mget_arguments(spec$fit, frame),
                        conf_level = read_level(frame))
  new_ucvtest(fields, frame$x$data.name, spec$statistic)
}

# Learners by name or number, as arguments for Python, which counts from 0.
by_place <- function(given, n_learners)
  Map(function(learner, argument) {
    if (!is.numeric(learner)) return(learner)
    if (length(learner) != 1L || !learner %in% seq_len(n_learners))
      stop_user("'", argument, "' must be the name of a learner, or a number from 1 to ", n_learners,
                ", got ", toString(learner))
    as.integer(learner) - 1L
  }, given, names(given))

# Values of arguments with these defaults; one that is NULL both ways is left to Python.
mget_arguments <- function(defaults, frame) {
  values <- mget(as.character(names(defaults)), frame)
  values[!vapply(values, is.null, NA) | !vapply(defaults, is.null, NA)]
}

read_alternative <- function(spec, frame) {
  if ("alternative" %in% spec$without) return(list())
  chosen <- one_of(frame$alternative, c("two.sided", "less", "greater"), "alternative")
  list(alternative = sub(".", "-", chosen, fixed = TRUE))
}

read_level <- function(frame) {
  level <- or_else(get0("conf.level", frame, inherits = FALSE), 0.95)
  refuse_level(level, "conf.level")
  level
}

as_group_weight <- function(weight) one_of(weight, c("group", "row"), "group_weight")

# What the user wrote for an argument of the function with this frame.
written_in <- function(name, frame) eval(call("substitute", as.name(name)), frame)

# set.seed() decides the draws: Python's generator starts from a number that R draws.
draw_seed <- function() sample.int(.Machine$integer.max, 1L)

# Arguments without a default that the calling function lacks, each with what to give.
refuse_lacking <- function(...) {
  what <- c(...)
  for (name in names(what)) if (eval.parent(call("missing", as.name(name))))
    stop_user("'", name, "' is missing: give ", what[[name]])
}

refuse_unknown <- function(...) {
  if (...length() == 0L) return(invisible())
  unknown <- ...names()
  if (is.null(unknown) || !any(nzchar(unknown)))
    stop_user("too many arguments: name those after 'learner'")
  stop_user("unknown argument ", paste0("'", unknown[nzchar(unknown)], "'", collapse = ", "),
            ": see ?", deparse1(user_call()[[1L]]))
}

refuse_level <- function(level, name) {
  if (!is.numeric(level) || length(level) != 1L || is.na(level) || level <= 0 || level >= 1)
    stop_user("'", name, "' must be a number between 0 and 1, such as 0.95")
}

one_of <- function(value, choices, argument) {
  if (identical(value, choices)) return(choices[1L])
  if (!is.character(value) || length(value) != 1L || is.na(match <- pmatch(value, choices)))
    stop_user("'", argument, "' must be one of ", paste0("\"", choices, "\"", collapse = ", "))
  choices[match]
}
