# Which test to use, by the calibration study of all of them.

advise <- function(n, ...) {
  if (missing(n)) stop_user("'n' is missing: give the number of observations")
  UseMethod("advise")
}

# The number of observations, or of groups, and the loss follow from the data.
advise.formula <- function(n, data = environment(n), ..., subset, groups, loss = NULL,
                           metric = NULL, positive = NULL) {
  sample_of <- formula_method(function(x, y, groups, weights) {
    answer <- response(y, positive, metric)
    rows <- if (is_survival(y)) answer$values$time else answer$values
    list(n = length(unique(or_else(groups, seq_along(rows)))), labels = answer$labels,
         named = answer$named,
         loss = if (is.null(metric)) default_loss(answer))
  })
  arguments <- as.list(match.call(expand.dots = FALSE))[-1L]
  arguments <- arguments[names(arguments) %in% c("n", "data", "subset", "groups")]
  names(arguments)[names(arguments) == "n"] <- "formula"
  found <- eval(as.call(c(sample_of, arguments)), parent.frame())
  if (!is.null(metric)) metric <- as_metric(metric, found$labels)
  advice <- advise(found$n, ..., loss = or_else(loss, found$loss), metric = metric)
  # What to type, with what was typed, and what a metric of one class needs besides.
  unnamed <- is_of_one_class(metric) && length(found$labels) == 2L && !found$named
  advice$written <- list(about = unname(arguments[names(arguments) %in% c("formula", "data")]),
                         rows = c(arguments[names(arguments) %in% c("subset", "groups")],
                                  if (!is.null(positive)) list(positive = positive)
                                  else if (unnamed) alist(positive = )))
  advice
}

advise.default <- function(n, n_fits = 10000, loss = NULL, learners = 2,
                           goal = c("interval", "test"), about = c("learner", "rules"),
                           metric = NULL, ...) {
  refuse_unknown(...)
  if (!is.null(metric)) metric <- as_metric(metric, NULL)
  goal <- one_of(goal, c("interval", "test"), "goal")
  about <- one_of(about, c("learner", "rules"), "about")
  fields <- call_python("advise", n = n, n_fits = n_fits, loss = loss, learners = learners,
                        goal = goal, about = about, metric = metric)
  if (!is.null(fields$arguments$design))
    fields$arguments$design <- do.call(new_design, fields$arguments$design)
  structure(fields, class = "ucvtest_advice")
}

print.ucvtest_advice <- function(x, ...) {
  learners <- c("learner", if (x$n_learners == 2L) "other")
  given <- lapply(x$arguments, function(value) {
    if (inherits(value, "ucvtest_design")) call_of_design(value) else plain(value)
  })
  about <- or_else(x$written$about, lapply(c("formula", "data"), as.name))
  code <- as.call(c(as.name(x$test), about, lapply(learners, as.name), given, x$written$rows))
  cat("\n\tWhich test to use\n\n", paste(deparse(code, width.cutoff = 80L), collapse = "\n"), "\n",
      sep = "")
  if (!x$promises) cat("(cannot promise: see the reasons)\n")
  reasons <- lapply(x$reasons, strwrap, prefix = "    ", initial = "  - ")
  cat("\n", paste(unlist(reasons), collapse = "\n"), "\n", sep = "")
  cat("\n")
  invisible(x)
}

# The call that makes a design.
call_of_design <- function(design) {
  name <- tolower(gsub("(?<!^)(?=[A-Z])", "_", design$kind, perl = TRUE))
  as.call(c(as.name(name), lapply(unclass(design)[-1L], plain)))
}

# Written without the L of integers.
plain <- function(value) if (is.integer(value)) as.numeric(value) else value
