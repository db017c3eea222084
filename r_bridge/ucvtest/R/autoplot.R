# Intervals and pictures by ggplot2, where it is installed; registered when that is loaded.

autoplot.ucvtest <- autoplot.ucvtest_comparison <- autoplot.ucvtest_plan <-
  autoplot.ucvtest_selection <- function(object, kind = NULL, ...) {
    refuse_others("autoplot", NULL, ...)
    picture <- picture_of(object, kind)
    if (is.null(picture$rows)) picture_plot(picture) else interval_plot(picture)
  }

# Columns by name, which R CMD check does not take for variables.
aes <- function(...) do.call(ggplot2::aes, lapply(list(...), as.name))

interval_plot <- function(picture) {
  columns <- picture$rows
  columns$label <- factor(columns$label, rev(unique(columns$label)))
  drawn <- ggplot2::ggplot(columns, aes(x = "estimate", y = "label")) +
    ggplot2::geom_errorbarh(aes(xmin = "conf.low", xmax = "conf.high"), height = 0.15,
                            colour = colours[["estimate"]], na.rm = TRUE) +
    ggplot2::geom_point(colour = colours[["estimate"]], size = 2.5, na.rm = TRUE) +
    ggplot2::labs(x = wrapped(picture$xlabel, 45L), y = NULL, subtitle = picture$title)
  null <- unname(picture$null)
  if (is.null(null)) return(drawn)
  drawn + ggplot2::geom_vline(xintercept = null, linetype = 2, colour = colours[["null"]])
}

# A picture as base graphics draw it: layers, of which those with a label are in the legend.
picture_plot <- function(picture) {
  drawn <- ggplot2::ggplot() +
    ggplot2::labs(x = wrapped(picture$xlabel, 45L), y = picture$ylabel, colour = NULL, fill = NULL,
                  title = picture$title)
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
