# What all tests share: arguments in, one call of Python, a result out.

# `frame` is that of a default method, which has x, y, learner, pos_label, and where the test has
# them other, alternative, loss and conf.level. `constructor` and `fit` are named lists of further
# arguments of the Python class and of its method fit. `statistic` names a statistic that is
# neither t nor z.
run_test <- function(class, frame, constructor = list(), fit = list(), statistic = "statistic") {
  given <- function(name) get0(name, frame, inherits = FALSE)
  written <- function(name) eval(call("substitute", as.name(name)), frame)
  if (eval(quote(missing(y)), frame))
    stop_user("'y' is missing: give the response, or a formula and data")
  if (eval(quote(missing(learner)), frame))
    stop_user("'learner' is missing: name one, such as \"lda\"")
  if (exists("alternative", frame, inherits = FALSE))
    constructor$alternative <- sub(".", "-", fixed = TRUE,
      one_of(frame$alternative, c("two.sided", "less", "greater"), "alternative"))
  level <- if (is.null(given("conf.level"))) 0.95 else frame$conf.level
  refuse_level(level, "conf.level")
  sample <- as_sample(frame$x, frame$y, given("pos_label"))
  learners <- list(as_learner(frame$learner, "learner", written("learner"), frame$x, frame$y))
  if (!is.null(given("other")))
    learners[[2L]] <- as_learner(frame$other, "other", written("other"), frame$x, frame$y)
  if (exists("loss", frame, inherits = FALSE))
    constructor["loss"] <- list(as_loss(frame$loss, frame$y))
  constructor["pos_label"] <- list(sample$pos_label)
  fit$rng <- draw_seed()
  fields <- call_python("hypothesis_test", test = class, x = sample$x, y = sample$y,
                        learners = learners, constructor = constructor, fit = fit,
                        conf_level = level)
  data_name <- paste(deparse1(written("x")), "and", deparse1(written("y")))
  new_ucvtest(fields, data_name, statistic)
}

# The formula method of every test: `default` is the default method, and ... its arguments.
run_formula <- function(default, formula, data, written, ...) {
  if (length(formula) != 3L)
    stop_user("'formula' must have a response: write  response ~ terms")
  data_name <- deparse1(formula)
  if (!is.null(written)) data_name <- paste(data_name, "in", deparse1(written))
  frame <- model.frame(formula, data = data, na.action = na.pass, drop.unused.levels = TRUE)
  if (!is.null(model.offset(frame)))
    stop_user("'formula' has an offset, which learners cannot use")
  where <- if (is.null(written)) "formula" else "data"
  refuse_missing(frame, where)
  refuse_other_units(frame[-attr(terms(frame), "response")], where)
  result <- default(design_matrix(terms(frame), frame), model.response(frame), ...)
  result$data.name <- data_name
  result
}

# Arguments whose defaults are Python's.
without_null <- function(...) Filter(Negate(is.null), list(...))

# set.seed() decides the draws: Python's generator starts from a number that R draws.
draw_seed <- function() sample.int(.Machine$integer.max, 1L)

refuse_unknown <- function(method, ...) {
  if (...length() == 0L) return(invisible())
  unknown <- ...names()
  if (is.null(unknown) || !any(nzchar(unknown)))
    stop_user("too many arguments: name those after 'learner'")
  stop_user("unknown argument ", paste0("'", unknown[nzchar(unknown)], "'", collapse = ", "),
            ": see args(ucvtest:::", method, ")")
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
