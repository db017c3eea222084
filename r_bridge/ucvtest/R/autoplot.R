# Intervals and pictures by ggplot2, where it is installed; registered when that is loaded.

autoplot.ucvtest <- function(object, kind = NULL, ...) {
  refuse_others("autoplot", NULL, ...)
  kinds <- plot_kinds(object)
  kind <- if (is.null(kind)) kinds[1L] else one_of(kind, kinds, "kind")
  if (kind != "interval") return(picture_plot(object$pictures[[kind]], object$method))
  columns <- tidy_columns(object)
  columns$label <- pair_label(columns$learner, columns$other, is_ratio(object))
  interval_plot(columns, object$null.value, names(object$estimate),
                paste0(object$method, ", ", format(100 * object$conf.level), "% ",
                       interval_name(object)))
}

autoplot.ucvtest_comparison <- function(object, ...) {
  refuse_others("autoplot", NULL, ...)
  columns <- as.data.frame(object)
  ratio <- is_ratio(about(object))
  columns$label <- paste0(columns$test, ": ", pair_label(columns$learner, columns$other, ratio))
  interval_plot(columns, if (ratio) 1 else 0, paste("first", if (ratio) "over" else "minus", "second"),
                paste0(format(100 * columns$conf.level[1L]), "% intervals"))
}

autoplot.ucvtest_plan <- function(object, kind = names(object$pictures), ...) {
  refuse_others("autoplot", NULL, ...)
  picture_plot(object$pictures[[one_of(kind, names(object$pictures), "kind")]], object$method)
}

autoplot.ucvtest_selection <- function(object, ...) {
  refuse_others("autoplot", NULL, ...)
  picture_plot(selection_picture(object), "Model selection")
}

pair_label <- function(learner, other, ratio)
  ifelse(is.na(other), learner, paste(learner, if (ratio) "/" else "-", other))

# Columns by name, which R CMD check does not take for variables.
aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

interval_plot <- function(columns, null, xlab, subtitle) {
  columns$label <- factor(columns$label, rev(unique(columns$label)))
  drawn <- ggplot2::ggplot(columns, aes(x = "estimate", y = "label")) +
    ggplot2::geom_errorbarh(aes(xmin = "conf.low", xmax = "conf.high"), height = 0.15,
                            colour = colours[["estimate"]], na.rm = TRUE) +
    ggplot2::geom_point(colour = colours[["estimate"]], size = 2.5, na.rm = TRUE) +
    ggplot2::labs(x = wrapped(xlab, 45L), y = NULL, subtitle = subtitle)
  if (is.null(null)) return(drawn)
  drawn + ggplot2::geom_vline(xintercept = unname(null), linetype = 2, colour = colours[["null"]])
}

# A picture as base graphics draw it: layers, of which those with a label are in the legend.
picture_plot <- function(picture, method) {
  drawn <- ggplot2::ggplot() +
    ggplot2::labs(x = wrapped(picture$xlabel, 45L), y = picture$ylabel, colour = NULL, fill = NULL,
                  title = if (nzchar(picture$title)) picture$title else method)
  named <- Filter(function(layer) nzchar(layer$label), picture$layers)
  labels <- unique(vapply(named, `[[`, "", "label"))
  roles <- vapply(labels, function(label)
    Find(function(layer) layer$label == label, named)$role, "")
  for (layer in lapply(picture$layers, with_outline)) drawn <- drawn + layer_geom(layer)
  shades <- structure(colours[roles], names = labels)
  drawn <- drawn + ggplot2::scale_colour_manual(values = shades, breaks = labels) +
    ggplot2::scale_fill_manual(values = shades, breaks = labels)
  if (is.null(picture$ticks)) return(drawn)
  drawn + ggplot2::scale_x_continuous(breaks = unname(picture$ticks),
                                      labels = names(picture$ticks))
}

# Its colour is that of its label, which the legend has, or else of its role.
layer_geom <- function(layer) {
  places <- Filter(length, layer[c("x", "y")])
  data <- data.frame(places, label = layer$label)
  filled <- layer$mark %in% c("bars", "area")
  shade <- if (filled) "fill" else "colour"
  named <- nzchar(layer$label)
  across <- layer$mark %in% c("vertical", "horizontal")
  mapped <- structure(as.list(names(places)), names = paste0(names(places), if (across) "intercept"))
  arguments <- c(
    list(data = data, na.rm = TRUE,
         mapping = do.call(aes, c(mapped, if (named) structure(list("label"), names = shade)))),
    if (!named) structure(list(colours[[layer$role]]), names = shade),
    switch(layer$mark, bars = list(width = layer$width), area = list(alpha = 0.25),
           points = list(size = 2.5), list(linetype = line_type(layer))))
  geom <- switch(layer$mark, bars = ggplot2::geom_col, area = ggplot2::geom_polygon,
                 points = ggplot2::geom_point, vertical = ggplot2::geom_vline,
                 horizontal = ggplot2::geom_hline, ggplot2::geom_path)
  do.call(geom, arguments)
}
