# Is it as good? Equivalence and noninferiority, from the interval of a result.

equivalence <- function(result, low, high, alpha = 0.05) {
  refuse_lacking(result = "the result of a test", low = "the lower end of differences that do not matter, such as -0.05",
                 high = "their upper end, such as 0.05")
  refuse_no_result(result)
  fields <- call_python(".equivalence", result = result$json, low = low, high = high, alpha = alpha)
  new_margin(fields, result, "equivalence", c(fields$low, fields$high))
}

noninferiority <- function(result, margin, alpha = 0.05) {
  refuse_lacking(result = "the result of a test",
                 margin = "the largest difference that does not matter, such as 0.05")
  refuse_no_result(result)
  fields <- call_python(".noninferiority", result = result$json, margin = margin, alpha = alpha)
  new_margin(fields, result, if (fields$better == "lower") "less" else "greater", fields$bound)
}

refuse_no_result <- function(result) {
  if (inherits(result, "ucvtest_comparison"))
    stop_user("'result' is a comparison, which has several results: give the result of one test of ",
              "two learners, such as ustat_test() or corrected_t_test()")
  if (!inherits(result, "ucvtest") || is.null(result$json))
    stop_user("'result' must be the result of one of this package's tests, such as ustat_test()")
}

new_margin <- function(fields, result, alternative, null) {
  structure(class = c("ucvtest_margin", "htest"), list(
    p.value = fields$pvalue,
    conf.int = structure(as.numeric(fields$conf_int), conf.level = 1 - 2 * fields$alpha),
    estimate = structure(fields$estimate, names = fields$estimand),
    null.value = structure(null, names = rep(fields$estimand, length(null))),
    alternative = alternative, method = fields$title, data.name = result$data.name,
    alpha = fields$alpha, decision = fields$decision, verdict = fields$verdict))
}

# The columns of broom's tidy() for an "htest", and the decision.
tidy.ucvtest_margin <- function(x, ...) {
  refuse_others("tidy", NULL, ...)
  as_tibble_if_any(data.frame(
    estimate = unname(x$estimate), p.value = x$p.value, conf.low = x$conf.int[1L],
    conf.high = x$conf.int[2L], method = x$method, alternative = x$alternative,
    decision = x$decision))
}

print.ucvtest_margin <- function(x, ...) {
  shown <- x
  # R prints one null value, and equivalence has two.
  if (length(x$null.value) == 2L) {
    shown$null.value <- NULL
    shown$alternative <- paste("the estimand lies between", x$null.value[1L], "and",
                               x$null.value[2L])
  }
  cat("", strwrap(x$method, prefix = "\t"), "", paste("data: ", x$data.name), sep = "\n")
  print_test(shown, getOption("digits"))
  print_interval(shown, getOption("digits"))
  cat(strwrap(paste0(names(x$estimate), ": ", format(x$estimate))), "", strwrap(x$verdict), "",
      sep = "\n")
  invisible(x)
}
