# Several learners by several tests, fitted once for each different design.

compare_learners <- function(x, ...) UseMethod("compare_learners")

compare_learners.default <- function(x, y, learners, tests = "recommended", loss = NULL,
                                     alternative = c("two.sided", "less", "greater"),
                                     correction = "holm", conf.level = 0.95,
                                     positive = NULL, contrast = "difference",
                                     baseline = NULL, groups = NULL,
                                     group_weight = c("group", "row"), weights = NULL,
                                     n_jobs = 1, scoring = NULL, max_seconds = NULL,
                                     checkpoint = NULL, pos_label = NULL, max_fits = NULL,
                                     metric = NULL, ...) {
  refuse_unknown(...)
  refuse_results(environment(), "learners")
  refuse_lacking(y = the_response, learners = "name two or more, such as c(\"lda\", \"knn:5\")")
  fields <- ask_of_data("compare")
  new_comparison(fields, !is.null(metric), conf.level)
}

compare_learners.formula <- formula_method(compare_learners.default)

# The names of p.adjust(), and further ones of Python.
as_correction <- function(correction) {
  if (is.null(correction) || identical(correction, "none")) return(NULL)
  names <- c(stats::p.adjust.methods, "sidak", "holm-sidak", "simultaneous")
  if (is_text(correction) && correction %in% c(names, "fdr_bh", "fdr_by", "simes-hochberg"))
    return(correction)
  meant <- if (is_text(correction)) names[tolower(names) == tolower(correction)]
  stop_user("'correction' must be one of ", quoted(names), ", got ",
            if (is.atomic(correction)) deparse1(correction) else describe(correction),
            if (length(meant)) paste0(": did you mean \"", meant, "\"?"))
}

# The learners that may be the best, after correction = "simultaneous".
best_set <- function(comparison, alpha = 0.05, test = NULL) {
  refuse_lacking(comparison = "what compare_learners() returned")
  if (!inherits(comparison, "ucvtest_comparison"))
    stop_user("'comparison' must be what compare_learners() returned")
  as.character(call_python(".best_set", result = about(comparison)$json, alpha = alpha, test = test))
}

# Learners as Python takes them, and their names where the user gave some.
named_learners <- function(learners, sample, written = NULL) {
  # list(glm, rpart::rpart) says what they are called.
  alone <- inherits(learners, single_learners) || is.function(learners)
  if (alone) learners <- list(learners)
  if (!is.list(learners)) learners <- as.list(learners)
  calls <- if (is.call(written)) as.list(written)[-1L]
  expressions <- if (length(calls) == length(learners)) calls
  given <- names(learners)
  read <- lapply(seq_along(learners), function(place) {
    learner <- as_learner(learners[[place]], "learners", or_else(expressions[[place]], quote(f())),
                          sample)
    if (is.list(learner)) learner$code <- written_out(learners[[place]])
    if (is.list(learner) && length(given) && nzchar(given[place])) learner$name <- given[place]
    learner
  })
  if (is.null(given)) return(read)
  own <- vapply(read, function(learner) if (is.list(learner)) learner$name else learner, "")
  names <- ifelse(nzchar(given), given, own)
  if (anyDuplicated(names))
    stop_user("'learners' has several called '", names[duplicated(names)][1L], "': name them")
  structure(read, names = names)
}

# Objects that are lists, and one learner each.
single_learners <- c("ucvtest_r_learner", "model_spec", "workflow", "Learner")

# Names of tests, or lists of a name and options, each as list(name, options).
as_tests <- function(tests, n_obs) {
  if (identical(tests, "recommended")) return(tests)
  read <- lapply(as.list(tests), function(test) {
    if (is_text(test)) return(list(short_name(test), list()))
    if (!is.list(test) || !length(test) || !is.character(test[[1L]]) ||
        !all(nzchar(names(test)[-1L])) || length(test) > 1L && is.null(names(test)))
      stop_user("'tests' must contain names of tests, or lists of a name and options, such as ",
                "list(\"corrected_t\", design = k_fold(10, 10))")
    options <- test[-1L]
    if (!is.null(options$design)) options$design <- as_design(options$design, n_obs)
    list(short_name(test[[1L]]), options)
  })
  labels <- names(tests)
  if (!is.null(labels)) {
    own <- vapply(read, `[[`, "", 1L)
    names(read) <- make.unique(ifelse(nzchar(labels), labels, own), sep = " ")
  }
  read
}

# "corrected_t_test" is the function of the test "corrected_t".
short_name <- function(test) sub("(_learners)?_test$", "", test)

new_comparison <- function(fields, is_metric, conf_level) {
  table <- fields$table
  frame <- data.frame(
    test = table$test, learner = table$learner, other = table$other, estimate = table$estimate,
    std.error = table$se, statistic = table$statistic, p.value = table$pvalue,
    adj.p.value = table$pvalue_adjusted, parameter = table$df, conf.low = table$conf_low,
    conf.high = table$conf_high, conf.level = conf_level,
    alternative = sub("-", ".", table$alternative, fixed = TRUE), method = table$method,
    n_fits = table$n_fits, status = table$status, estimand = table$estimand)
  structure(frame, class = c("ucvtest_comparison", "data.frame"),
            about = c(fields[c("n_obs", "n_fits", "elapsed", "loss", "correction", "contrast",
                               "verdict", "lines", "json", "data.name")],
                      list(is_metric = is_metric, fits = as.data.frame(fields$fits))))
}

# What stands beside the table.
about <- function(x) attr(x, "about")

# Parts of a comparison are no comparison: its verdict is about the whole.
`[.ucvtest_comparison` <- function(x, ...) as.data.frame(x)[...]

print.ucvtest_comparison <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  about <- about(x)
  several <- nrow(unique(as.data.frame(x)[c("learner", "other")])) > 1L
  tests <- unique(x$test)
  shown <- c(if (length(tests) > 1L) "test", if (several) c("learner", "other"), "estimate",
             "std.error", "p.value", if (several) "adj.p.value", "conf.low", "conf.high")
  cat("\n\tComparison of learners\n\ndata:  ", about$data.name, ", ", about$n_obs,
      " observations\n", sep = "")
  if (length(tests) == 1L) cat("test:  ", tests, "\n", sep = "")
  if (!several) cat("difference:  ", x$learner[1L], " minus ", x$other[1L], "\n", sep = "")
  cat(if (isTRUE(about$is_metric)) "metric:  " else "loss:  ", about$loss, "\n", sep = "")
  if (several)
    cat("adjustment:  ", about$correction, if (is.null(about$correction)) "none"
        else " over pairs within each test", "\n", sep = "")
  cat("\n")
  table <- as.data.frame(x)[shown]
  # A difference of nothing may be 1e-18.
  table$estimate <- zapsmall(table$estimate, 12L)
  for (column in intersect(c("p.value", "adj.p.value"), shown))
    table[[column]] <- ifelse(is.na(table[[column]]), "",
                              format.pval(table[[column]], max(1L, digits - 1L), eps = 1e-4))
  print(table, digits = digits, row.names = FALSE, ...)
  # A verdict that nothing can be said of has the reason already.
  bad <- x$status != "ok" & !vapply(substring(x$status, 2L), grepl, NA, about$verdict, fixed = TRUE)
  if (any(bad)) cat("\n", strwrap(paste0(x$test[bad], ": ", x$status[bad])), sep = "\n")
  cat("\n", paste(strwrap(paste("Verdict:", about$verdict)), collapse = "\n"), "\n", sep = "")
  cat("model fits in all: ", about$n_fits, "\n\n", sep = "")
  print_lines(about$lines)
  invisible(x)
}

as.data.frame.ucvtest_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  attr(x, "about") <- NULL
  class(x) <- "data.frame"
  x
}

glance.ucvtest_comparison <- function(x, ...) {
  refuse_others("glance", NULL, ...)
  about <- about(x)
  as_tibble_if_any(data.frame(n_tests = length(unique(x$test)),
             n_pairs = nrow(unique(as.data.frame(x)[c("learner", "other")])),
             loss = about$loss, correction = or_else(about$correction, "none"),
             nobs = about$n_obs, n_fits = about$n_fits, elapsed = about$elapsed))
}

# Losses that exist already: the same comparison without a fit.
compare_learners.ucvtest_losses <- function(x, tests = NULL,
                                            alternative = c("two.sided", "less", "greater"),
                                            correction = "holm", conf.level = 0.95,
                                            baseline = NULL, group_weight = c("group", "row"),
                                            metric = NULL, ...) {
  refuse_unknown(...)
  fields <- ask_of_losses("compare_losses", losses = x$json)
  new_comparison(fields, !is.null(metric) || isTRUE(x$is_metric), conf.level)
}
