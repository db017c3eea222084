# Results as R's own tests give them, class "htest", with what "ucvtest" adds.

new_ucvtest <- function(fields, data_name) {
  tested <- !is.nan(fields$null_value)
  level <- structure(c(fields$conf_low, fields$conf_high), conf.level = fields$conf_level)
  # Without a reference distribution (see status) the statistic is neither t nor z.
  letter <- switch(fields$reference, t = "t", normal = "z", "statistic")
  result <- list(
    statistic = if (tested) c(structure(fields$statistic, names = letter)),
    parameter = if (!is.nan(fields$df)) c(df = fields$df),
    p.value = if (tested) fields$pvalue,
    conf.int = level,
    estimate = structure(fields$estimate, names = fields$estimand),
    null.value = if (tested) structure(fields$null_value, names = fields$estimand),
    stderr = fields$se,
    alternative = if (tested) sub("-", ".", fields$alternative, fixed = TRUE),
    method = fields$method,
    data.name = data_name)
  extra <- fields[c("status", "variance", "reference", "n_obs", "n_fits", "elapsed",
                    "settings", "diagnostics", "notes", "json")]
  structure(c(result[lengths(result) > 0L], extra), class = c("ucvtest", "htest"))
}

print.ucvtest <- function(x, ...) {
  NextMethod()
  if (!identical(x$status, "ok")) cat(strwrap(paste("status:", x$status)), "", sep = "\n")
  invisible(x)
}

summary.ucvtest <- function(object, conf.level = attr(object$conf.int, "conf.level"), ...) {
  text <- call_python("summary", json = object$json, conf_level = conf.level)
  structure(list(text = text), class = "summary.ucvtest")
}

print.summary.ucvtest <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

confint.ucvtest <- function(object, parm, level = attr(object$conf.int, "conf.level"), ...) {
  ends <- call_python("confidence_interval", json = object$json, conf_level = level)
  tails <- if (identical(object$settings$alternative, "two-sided")) c(1 - level, 1 + level) / 2
           else c(1 - level, level)
  percent <- paste(format(100 * tails, trim = TRUE, scientific = FALSE, digits = 3L), "%")
  matrix(ends, 1L, dimnames = list(names(object$estimate), percent))
}

as.data.frame.ucvtest <- function(x, row.names = NULL, optional = FALSE, ...) {
  or_na <- function(value) if (is.null(value)) NA else unname(value)
  data.frame(
    row.names = row.names,
    estimate = unname(x$estimate), std.error = x$stderr, statistic = or_na(x$statistic),
    p.value = or_na(x$p.value), parameter = or_na(x$parameter),
    conf.low = x$conf.int[1L], conf.high = x$conf.int[2L],
    conf.level = attr(x$conf.int, "conf.level"), null.value = or_na(x$null.value),
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

plot.ucvtest <- function(x, xlab = names(x$estimate), ylab = "", main = x$method, ...) {
  ends <- as.vector(x$conf.int)
  shown <- c(x$estimate, ends[is.finite(ends)], x$null.value)
  graphics::plot(range(shown) + c(-0.1, 0.1) * max(diff(range(shown)), 0.01), c(0, 2),
                 type = "n", xlab = xlab, ylab = ylab, main = main, yaxt = "n", ...)
  if (!is.null(x$null.value)) abline(v = x$null.value, lty = 2L)
  if (!anyNA(ends)) draw_interval(ends, graphics::par("usr")[1:2])
  points(x$estimate, 1, pch = 19L)
  invisible(x)
}

# An infinite end is an arrow that points out of the picture.
draw_interval <- function(ends, border) {
  drawn <- pmin(pmax(ends, border[1L]), border[2L])
  for (end in 1:2)
    arrows(mean(drawn), 1, drawn[end], 1, length = 0.08,
           angle = if (is.finite(ends[end])) 90 else 30)
}
