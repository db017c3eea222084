# Results as R's own tests give them, class "htest", with what "ucvtest" adds.

new_ucvtest <- function(fields, data_name, statistic = "statistic") {
  # A method without p-values tests nothing; one that could not give its p-value says why.
  tested <- !is.nan(fields$pvalue) ||
    !is.nan(fields$null_value) && !identical(fields$status, "ok")
  ends <- c(fields$conf_low, fields$conf_high)
  # Without a reference distribution (see status) the statistic is neither t nor z.
  of_f <- if (startsWith(fields$reference, "F("))
    as.numeric(strsplit(gsub("[^0-9.,]", "", fields$reference), ",")[[1L]])
  letter <- if (length(of_f)) "F" else switch(fields$reference, t = "t", normal = "z", statistic)
  parameter <- if (length(of_f)) structure(of_f, names = c("num df", "denom df"))
               else if (!is.nan(fields$df)) c(df = fields$df)
  result <- list(
    statistic = if (tested) structure(fields$statistic, names = letter),
    # Degrees of freedom alone, without a statistic, would say nothing.
    parameter = if (tested) parameter,
    p.value = if (tested) fields$pvalue,
    conf.int = if (!all(is.nan(ends))) structure(ends, conf.level = fields$conf_level),
    estimate = structure(fields$estimate, names = fields$estimand),
    null.value = if (!is.nan(fields$null_value))
      structure(fields$null_value, names = fields$estimand),
    stderr = fields$se,
    alternative = if (tested) sub("-", ".", fields$alternative, fixed = TRUE),
    method = fields$method,
    data.name = data_name)
  extra <- fields[c("status", "variance", "reference", "df", "conf_level", "n_obs", "n_fits",
                    "elapsed", "settings", "diagnostics", "notes")]
  names(extra)[names(extra) == "conf_level"] <- "conf.level"
  extra$tables <- lapply(fields$tables, as.data.frame, optional = TRUE)
  extra$pictures <- fields$pictures
  extra$json <- fields$json
  structure(c(result[lengths(result) > 0L], extra), class = c("ucvtest", "htest"))
}

print.ucvtest <- function(x, ...) {
  shown <- x
  null <- x$diagnostics$null_hypothesis
  if (!is.null(null)) {
    # The null hypothesis is no value of the estimate.
    shown$null.value <- NULL
    shown$alternative <- paste("it does not hold that", null)
  }
  # What has no value is not printed; the status below says why there is none.
  for (part in c("statistic", "parameter", "p.value")) {
    if (anyNA(shown[[part]])) shown[[part]] <- NULL
  }
  if (is.null(shown$statistic)) shown$parameter <- NULL
  print(structure(shown, class = "htest"), ...)
  # What p-value and interval rest on beyond the data.
  assumption <- x$diagnostics$assumption
  if (!is.null(assumption)) cat(strwrap(paste0("assuming ", assumption)), "", sep = "\n")
  posterior <- x$diagnostics[c("p_left", "p_rope", "p_right")]
  if (!is.null(posterior$p_rope))
    cat("posterior probabilities: ", paste(format(unlist(posterior), digits = 3L),
        c("below", "in", "above"), collapse = ", "), " the region of practical equivalence\n\n",
        sep = "")
  if (!identical(x$status, "ok")) cat(strwrap(paste("status:", x$status)), "", sep = "\n")
  invisible(x)
}

summary.ucvtest <- function(object, conf.level = object$conf.level, ...) {
  refuse_others("summary", "conf.level", ...)
  refuse_level(conf.level, "conf.level")
  text <- call_python("summary", json = object$json, conf_level = conf.level)
  structure(list(text = text), class = "summary.ucvtest")
}

print.summary.ucvtest <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

confint.ucvtest <- function(object, parm, level = object$conf.level, ...) {
  refuse_others("confint", "level", ...)
  refuse_level(level, "level")
  ends <- call_python("confidence_interval", json = object$json, conf_level = level)
  # Named by the probabilities below the ends, as everywhere in R; a one-sided interval has one
  # end at 0 or 1.
  side <- c(object$settings$alternative, "two-sided")[1L]
  tails <- switch(side, less = c(0, level), greater = c(1 - level, 1),
                  c(1 - level, 1 + level) / 2)
  percent <- paste(format(100 * tails, trim = TRUE, scientific = FALSE, digits = 3L), "%")
  matrix(ends, 1L, dimnames = list(names(object$estimate), percent))
}

# A misspelt level would otherwise be that of the test without a word.
refuse_others <- function(method, argument, ...) {
  if (...length() == 0L) return(invisible())
  stop(errorCondition(call = sys.call(-1L), paste0(
    "unknown argument", if (any(nzchar(...names()))) paste0(" '", ...names()[1L], "'"),
    ": the confidence level of ", method, "() is '", argument, "'")))
}

as.data.frame.ucvtest <- function(x, row.names = NULL, optional = FALSE, ...) {
  or_na <- function(value) if (is.null(value)) NA else unname(value)
  data.frame(
    row.names = row.names,
    estimate = unname(x$estimate), std.error = x$stderr, statistic = or_na(x$statistic),
    p.value = or_na(x$p.value), parameter = if (is.nan(x$df)) NA else x$df,
    conf.low = or_na(x$conf.int[1L]), conf.high = or_na(x$conf.int[2L]),
    conf.level = x$conf.level, null.value = or_na(x$null.value),
    alternative = or_na(x$alternative), method = x$method,
    learner = x$settings$learner, other = or_na(x$settings$other),
    nobs = x$n_obs, n_fits = x$n_fits, status = x$status)
}

tidy.ucvtest <- function(x, ...)
  as.data.frame(x)[c("estimate", "std.error", "statistic", "p.value", "parameter",
                     "conf.low", "conf.high", "method", "alternative")]

glance.ucvtest <- function(x, ...)
  data.frame(method = x$method, nobs = x$n_obs, n_fits = x$n_fits, variance = x$variance,
             elapsed = x$elapsed, status = x$status)
