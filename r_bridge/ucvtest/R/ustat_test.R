ustat_test <- function(x, ...) UseMethod("ustat_test")

ustat_test.default <- function(x, y, learner, other = NULL, learn_size = NULL,
                               n_pairs = "auto", variance = "auto", loss = NULL,
                               null_value = NULL,
                               alternative = c("two.sided", "less", "greater"),
                               conf.level = 0.95, tol = 0.05, max_fits = NULL,
                               pos_label = NULL, ...) {
  refuse_unknown(...)
  if (missing(y)) stop_user("'y' is missing: give the response, or a formula and data")
  if (missing(learner)) stop_user("'learner' is missing: name one, such as \"lda\"")
  data_name <- paste(deparse1(substitute(x)), "and", deparse1(substitute(y)))
  learner_expression <- substitute(learner)
  other_expression <- substitute(other)
  alternative <- one_of(alternative, c("two.sided", "less", "greater"), "alternative")
  if (!is.numeric(conf.level) || length(conf.level) != 1L || is.na(conf.level) ||
      conf.level <= 0 || conf.level >= 1)
    stop_user("'conf.level' must be a number between 0 and 1, such as 0.95")
  features <- feature_matrix(x)
  answer <- response(y, pos_label)
  if (nrow(features) != length(answer$values))
    stop_user("'x' and 'y' must have the same length, got ", nrow(features), " rows and ",
              length(answer$values), " responses")
  fields <- call_python("ustat_test",
    x = features, y = answer$values,
    learner = as_learner(learner, "learner", learner_expression, x, y),
    other = as_learner(other, "other", other_expression, x, y),
    learn_size = learn_size, n_pairs = n_pairs, variance = variance,
    loss = as_loss(loss, y), null_value = null_value,
    alternative = sub(".", "-", alternative, fixed = TRUE), conf_level = conf.level,
    tol = tol, max_fits = max_fits, pos_label = answer$pos_label, seed = draw_seed())
  new_ucvtest(fields, data_name)
}

ustat_test.formula <- function(formula, data = environment(formula), learner, ...) {
  if (length(formula) != 3L)
    stop_user("'formula' must have a response: write  response ~ terms")
  data_name <- deparse1(formula)
  if (!missing(data)) data_name <- paste(data_name, "in", deparse1(substitute(data)))
  frame <- model.frame(formula, data = data, na.action = na.pass,
                       drop.unused.levels = TRUE)
  if (!is.null(model.offset(frame)))
    stop_user("'formula' has an offset, which learners cannot use")
  refuse_missing(frame, if (missing(data)) "formula" else "data")
  result <- ustat_test.default(design_matrix(terms(frame), frame), model.response(frame),
                               learner, ...)
  result$data.name <- data_name
  result
}

# set.seed() decides the draws: Python's generator starts from a number that R draws.
draw_seed <- function() sample.int(.Machine$integer.max, 1L)

refuse_unknown <- function(...) {
  if (...length() == 0L) return(invisible())
  unknown <- ...names()
  if (is.null(unknown) || !any(nzchar(unknown)))
    stop_user("too many arguments: name those after 'other'")
  stop_user("unknown argument ", paste0("'", unknown[nzchar(unknown)], "'", collapse = ", "),
            ": see args(ucvtest:::ustat_test.default)")
}

one_of <- function(value, choices, argument) {
  if (identical(value, choices)) return(choices[1L])
  if (!is.character(value) || length(value) != 1L || is.na(match <- pmatch(value, choices)))
    stop_user("'", argument, "' must be one of ", paste0("\"", choices, "\"", collapse = ", "))
  choices[match]
}
