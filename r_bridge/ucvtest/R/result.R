# Results as R's own tests give them, class "htest", with what "ucvtest" adds.

# The statistics that are neither t nor z, by the class of the test: "only_first_wrong" is the number
# of errors of the first rule alone, as Python's diagnostics call it.
statistics <- c(LeavePairOutTest = "U", McNemarTest = "only_first_wrong",
                PermutationComplexityTest = "e_in")

new_ucvtest <- function(fields, test) {
  # A method without p-values tests nothing; one that could not give its p-value says why.
  tested <- !is.nan(fields$pvalue) ||
    !is.nan(fields$null_value) && !identical(fields$status, "ok")
  # Without a reference distribution (see status) the statistic is neither t nor z.
  of_f <- if (startsWith(fields$reference, "F("))
    as.numeric(strsplit(gsub("[^0-9.,]", "", fields$reference), ",")[[1L]])
  letter <- if (length(of_f)) "F"
            else switch(fields$reference, t = "t", normal = "z",
                        if (test %in% names(statistics)) statistics[[test]] else "statistic")
  parameter <- if (length(of_f)) structure(of_f, names = c("num df", "denom df"))
               else if (!is.nan(fields$df)) c(df = fields$df)
  result <- list(
    statistic = if (tested) structure(fields$statistic, names = letter),
    # Degrees of freedom alone, without a statistic, would say nothing.
    parameter = if (tested) parameter,
    p.value = if (tested) fields$pvalue,
    conf.int = if (!all(is.nan(fields$conf_int)))
      structure(fields$conf_int, conf.level = fields$conf_level),
    estimate = structure(fields$estimate, names = fields$estimand),
    null.value = if (!is.nan(fields$null_value))
      structure(fields$null_value, names = fields$estimand),
    stderr = fields$se,
    alternative = if (tested) sub("-", ".", fields$alternative, fixed = TRUE),
    method = fields$method,
    data.name = fields$data.name)
  extra <- fields[c("status", "variance", "reference", "df", "conf_level", "n_obs", "n_fits",
                    "elapsed", "settings", "diagnostics", "notes")]
  names(extra)[names(extra) == "conf_level"] <- "conf.level"
  extra <- c(extra, fields[c("verdict", "lines", "interval_name", "contrast", "better")])
  extra$tables <- lapply(fields$tables, as.data.frame, optional = TRUE)
  extra$pictures <- fields$pictures
  extra$json <- fields$json
  structure(c(result[lengths(result) > 0L], extra), class = c("ucvtest", "htest"))
}

# As R prints any test, and then who is compared, what each of them does, and the verdict.
print.ucvtest <- function(x, digits = getOption("digits"), ...) {
  refuse_others("print", "digits", ...)
  cat("", strwrap(x$method, prefix = "\t"), "", sep = "\n")
  cat("data:  ", x$data.name, "\n", sep = "")
  print_learners(x)
  print_test(x, digits)
  print_interval(x, digits)
  print_estimates(x, digits)
  # What p-value and interval rest on beyond the data.
  assumption <- x$diagnostics$assumption
  if (!is.null(assumption)) cat(strwrap(paste0("assuming ", assumption)), "", sep = "\n")
  if (!is.null(x$verdict)) cat(strwrap(paste("Verdict:", x$verdict)), "", sep = "\n")
  # As of comparisons, a verdict that nothing can be said of has the reason already.
  told <- identical(x$status, "ok") ||
    isTRUE(grepl(substring(x$status, 2L), x$verdict, fixed = TRUE))
  if (!told) cat(strwrap(paste("status:", x$status)), "", sep = "\n")
  print_lines(x$lines)
  invisible(x)
}

print_learners <- function(x) {
  other <- x$settings$other
  if (is.null(x$settings$learner)) return(invisible())
  if (is.null(other)) cat("learner:  ", x$settings$learner, "\n", sep = "")
  else cat(strwrap(paste0(
    x$settings$learner, if (is_ratio(x)) " over " else " minus ", other, " (",
    if (identical(x$better, "higher")) "above " else "below ", if (is_ratio(x)) 1 else 0,
    " favours ", x$settings$learner, ")"), initial = "learners:  "), sep = "\n")
}

is_ratio <- function(x) identical(x$contrast, "ratio")

print_test <- function(x, digits) {
  # What has no value is not printed; the status says why there is none.
  with_value <- function(part) if (!is.null(part) && !anyNA(part)) part
  numbers <- c(with_value(x$statistic), if (!is.null(with_value(x$statistic))) x$parameter)
  digits <- max(1L, digits - 2L)
  # One at a time, so that each has its own digits.
  shown <- if (length(numbers))
    paste(names(numbers), "=", vapply(numbers, format, "", digits = digits))
  if (!is.null(with_value(x$p.value))) {
    p <- format.pval(x$p.value, digits = max(1L, digits - 1L))
    shown <- c(shown, paste("p-value", if (startsWith(p, "<")) p else paste("=", p)))
  }
  if (length(shown)) cat(strwrap(paste(shown, collapse = ", ")), sep = "\n")
  if (is.null(x$alternative)) return(invisible())
  null <- x$diagnostics$null_hypothesis
  direction <- c(two.sided = "not equal to", less = "less than", greater = "greater than")
  # A null hypothesis in words is no value of the estimate.
  alternative <- if (!is.null(null)) paste("it is not true that", null)
    else if (!is.null(x$null.value))
      paste("true", names(x$null.value), "is", direction[[x$alternative]], x$null.value)
    else x$alternative
  cat(strwrap(paste("alternative hypothesis:", alternative)), sep = "\n")
}

print_interval <- function(x, digits) {
  if (anyNA(or_else(x$conf.int, NA))) return(invisible())
  cat(format(100 * attr(x$conf.int, "conf.level")), " percent ", interval_name(x), ":\n ",
      paste(format(x$conf.int[1:2], digits = digits), collapse = " "), "\n", sep = "")
}

# Of the notes those that a reader has to know, and where the others are.
print_lines <- function(lines) {
  for (line in lines) cat(strwrap(line, 80, exdent = 4L), sep = "\n")
  if (length(lines)) cat("\n")
}

interval_name <- function(x) {
  if (identical(x$interval_name, "credible interval")) x$interval_name else "confidence interval"
}

# Each learner's own value, and what is tested, each with its standard error.
print_estimates <- function(x, digits) {
  if (is.null(x$estimate)) return(invisible())
  own <- if (!is.null(x$settings$other)) x$tables$Learners
  contrast <- if (is.null(x$settings$other)) or_else(x$settings$learner, "estimate")
              else if (is_ratio(x)) "ratio" else "difference"
  values <- cbind(c(own$estimate, x$estimate), c(own$se, or_else(x$stderr, NaN)))
  dimnames(values) <- list(c(own$learner, contrast),
                           c("estimate", if (is_ratio(x)) "std.error (log)" else "std.error"))
  if (all(is.nan(values[, 2L]))) values <- values[, 1L, drop = FALSE]
  # The alternative hypothesis has said what is estimated, where there is one about a value.
  told <- !is.null(x$alternative) && !is.null(x$null.value) && is.null(x$diagnostics$null_hypothesis)
  of <- if (!told) paste0(" (", names(x$estimate), ")")
  cat(strwrap(paste0("sample estimates", of, ":")), sep = "\n")
  print(values, digits = max(3L, digits - 3L))
  cat("\n")
}

summary.ucvtest <- summary.ucvtest_comparison <-
  function(object, conf.level = object$conf.level[1L], notes = FALSE, ...) {
    refuse_others("summary", "conf.level", ...)
    refuse_level(conf.level, "conf.level")
    text <- call_python(".summary", result = json_of(object), alpha = 1 - conf.level,
                        notes = is_switch(notes, "notes"))
    structure(list(text = text), class = "summary.ucvtest")
  }

is_switch <- function(value, name) {
  if (!isTRUE(value) && !isFALSE(value))
    stop_user("'", name, "' must be TRUE or FALSE, got ", describe(value))
  value
}

print.summary.ucvtest <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

confint.ucvtest <- confint.ucvtest_comparison <-
  function(object, parm, level = object$conf.level[1L], ...) {
    refuse_others("confint", "level", ...)
    # confint(result, 0.9) would be that of the test's own level without a word.
    if (!missing(parm)) stop(errorCondition(call = sys.call(), paste(
      "unknown argument 'parm': the estimates are given, and the confidence level of confint() is",
      "'level'")))
    ends <- ends_at(object, level, "level")
    row_names <- picture_of_intervals(object)$rows$label
    if (inherits(object, "ucvtest") && is.null(object$settings$other))
      row_names <- names(object$estimate)
    side <- c(object$settings$alternative, object$alternative, "two.sided")[1L]
    matrix(ends, ncol = 2L, dimnames = list(row_names, percent_below(side, level)))
  }

# Both ends of the interval, or of all intervals, at another level.
ends_at <- function(x, level, name) {
  refuse_level(level, name)
  if (inherits(x, "ucvtest"))
    return(call_python(".confidence_interval", result = x$json, confidence_level = level))
  frame <- call_python(".summary_frame", result = about(x)$json, alpha = 1 - level)
  c(frame$conf_low, frame$conf_high)
}

# The probabilities below the ends name them, as everywhere in R; a one-sided interval has one end
# at 0 or 1.
percent_below <- function(side, level) {
  tails <- switch(side, less = c(0, level), greater = c(1 - level, 1),
                  c(1 - level, 1 + level) / 2)
  paste(format(100 * tails, trim = TRUE, scientific = FALSE, digits = 3L), "%")
}

# A misspelt level would otherwise be that of the test without a word.
refuse_others <- function(method, argument, ...) {
  if (...length() == 0L) return(invisible())
  named <- nzchar(or_else(...names(), ""))
  hint <- if (identical(argument, "digits")) ": print() takes 'digits'"
          else if (!is.null(argument))
            paste0(": the confidence level of ", method, "() is '", argument, "'")
  stop(errorCondition(call = sys.call(-1L), paste0(
    "unknown argument", if (any(named)) paste0(" '", ...names()[named][1L], "'"), hint)))
}

as.data.frame.ucvtest <- function(x, row.names = NULL, optional = FALSE, ...)
  data.frame(row.names = row.names, tidy_columns(x), conf.level = x$conf.level,
             null.value = or_na(x$null.value), nobs = x$n_obs, n_fits = x$n_fits,
             status = x$status)

or_na <- function(value) if (is.null(value)) NA else unname(value)

# The columns of broom's tidy() for an "htest", and the learners.
tidy_columns <- function(x) {
  if (inherits(x, "ucvtest_comparison")) return(as.data.frame(x)[c(
    "test", "learner", "other", "estimate", "std.error", "statistic", "p.value", "adj.p.value",
    "parameter", "conf.low", "conf.high", "method", "alternative")])
  own <- if (!is.null(x$settings$other)) x$tables$Learners$estimate
  own <- or_else(own, c(NA_real_, NA_real_))
  data.frame(
    learner = or_na(x$settings$learner), other = or_na(x$settings$other),
    estimate = unname(x$estimate), estimate1 = own[1L], estimate2 = own[2L],
    std.error = or_na(x$stderr), statistic = or_na(x$statistic), p.value = or_na(x$p.value),
    parameter = if (isFALSE(is.nan(x$df))) x$df else NA, conf.low = or_na(x$conf.int[1L]),
    conf.high = or_na(x$conf.int[2L]), method = x$method, alternative = or_na(x$alternative))
}

# A tibble where the package is installed, as the tidyverse expects.
as_tibble_if_any <- function(frame) {
  if (!requireNamespace("tibble", quietly = TRUE)) return(frame)
  tibble::as_tibble(frame)
}

tidy.ucvtest <- tidy.ucvtest_comparison <- function(x, conf.level = x$conf.level[1L], ...) {
  refuse_others("tidy", "conf.level", ...)
  columns <- tidy_columns(x)
  if (!identical(conf.level, x$conf.level[1L]))
    columns[c("conf.low", "conf.high")] <- matrix(ends_at(x, conf.level, "conf.level"), ncol = 2L)
  as_tibble_if_any(columns)
}

glance.ucvtest <- function(x, ...) {
  refuse_others("glance", NULL, ...)
  as_tibble_if_any(data.frame(tidy_columns(x), nobs = x$n_obs, n_fits = x$n_fits,
                              variance = x$variance, elapsed = x$elapsed, status = x$status))
}

# What was done, in words for a paper.
methods_text <- function(result) {
  refuse_lacking(result = "the result of a test, a comparison or a plan")
  if (inherits(result, "ucvtest_plan")) return(methods_of_plan(result))
  text <- as.character(call_python("methods_text", result = json_of(result)))
  computed <- grepl("Computed by ucvtest", text, fixed = TRUE)
  text[computed] <- paste(text[computed], in_r_versions(text))
  text
}

# The versions of R and of the packages whose functions are named.
in_r_versions <- function(text) {
  packages <- unlist(regmatches(text, gregexpr("[A-Za-z][A-Za-z0-9.]*(?=::)", text, perl = TRUE)))
  by_name <- packages_of_recipes()
  # Names that learners of this package have too, and functions of R itself.
  by_name <- by_name[!names(by_name) %in% jitted_too & by_name != "stats"]
  named <- vapply(names(by_name), function(name)
    any(grepl(paste0("\\b", name, "\\b"), text)), NA)
  packages <- unique(c("ucvtest", packages, by_name[named]))
  packages <- packages[nzchar(vapply(packages, function(name) system.file(package = name), ""))]
  versions <- vapply(packages, function(name) as.character(utils::packageVersion(name)), "")
  paste0("It was called from R ", getRversion(), " with the packages ",
         paste(packages, versions, collapse = ", "), ".")
}

# The result, or the comparison, as Python reads it.
json_of <- function(result) {
  if (inherits(result, "ucvtest_comparison")) return(about(result)$json)
  refuse_no_result(result)
  result$json
}

# The papers that a result rests on, in words, with the keys that methods_text() writes.
citation_of <- function(result) {
  refuse_lacking(result = "the result of a test, or a comparison")
  references(json_of(result), "text")
}

# The same as BibTeX.
toBibtex.ucvtest <- toBibtex.ucvtest_comparison <- function(object, ...) {
  refuse_others("toBibtex", NULL, ...)
  structure(references(json_of(object), "bibtex"), class = "Bibtex")
}

references <- function(json, form) strsplit(call_python("cite", result = json)[[form]], "\n")[[1L]]
