# Intervals by ggplot2, where it is installed; registered when that is loaded.

autoplot.ucvtest <- function(object, ...) {
  refuse_others("autoplot", NULL, ...)
  columns <- tidy_columns(object)
  columns$label <- pair_label(columns$learner, columns$other, is_ratio(object))
  interval_plot(columns, object$null.value, names(object$estimate),
                paste0(object$method, ", ", format(100 * object$conf.level), "% ",
                       interval_name(object)))
}

autoplot.ucvtest_comparison <- function(object, ...) {
  refuse_others("autoplot", NULL, ...)
  columns <- as.data.frame(object)
  ratio <- identical(about(object)$contrast, "ratio")
  columns$label <- paste0(columns$test, ": ", pair_label(columns$learner, columns$other, ratio))
  interval_plot(columns, if (ratio) 1 else 0, paste("first", if (ratio) "over" else "minus", "second"),
                paste0(format(100 * columns$conf.level[1L]), "% intervals"))
}

pair_label <- function(learner, other, ratio)
  ifelse(is.na(other), learner, paste(learner, if (ratio) "/" else "-", other))

interval_plot <- function(columns, null, xlab, subtitle) {
  columns$label <- factor(columns$label, rev(unique(columns$label)))
  column <- function(name) as.name(name)
  aes <- function(...) do.call(ggplot2::aes, lapply(list(...), column))
  drawn <- ggplot2::ggplot(columns, aes(x = "estimate", y = "label")) +
    ggplot2::geom_errorbarh(aes(xmin = "conf.low", xmax = "conf.high"), height = 0.15,
                            colour = colours[["estimate"]], na.rm = TRUE) +
    ggplot2::geom_point(colour = colours[["estimate"]], size = 2.5, na.rm = TRUE) +
    ggplot2::labs(x = xlab, y = NULL, subtitle = subtitle)
  if (is.null(null)) return(drawn)
  drawn + ggplot2::geom_vline(xintercept = unname(null), linetype = 2, colour = colours[["null"]])
}
