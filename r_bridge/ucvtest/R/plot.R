# Pictures in base graphics: the interval, or what a result brings along as data.

plot.ucvtest <- function(x, kind = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
  kinds <- plot_kinds(x)
  kind <- if (is.null(kind)) kinds[1L] else one_of(kind, kinds, "kind")
  if (kind == "interval") draw_result(x, xlab, ylab, main, ...)
  else draw_picture(x$pictures[[kind]], x, xlab, ylab, main, ...)
  invisible(x)
}

# The interval first, where there is one, as in Python.
plot_kinds <- function(x) {
  pictures <- names(x$pictures)
  if (is.null(x$conf.int) && length(pictures)) c(pictures, "interval") else c("interval", pictures)
}

draw_result <- function(x, xlab, ylab, main, ...) {
  ends <- as.vector(x$conf.int)
  shown <- c(x$estimate, ends[is.finite(ends)], x$null.value)
  shown <- shown[is.finite(shown)]
  if (!length(shown)) shown <- 0
  # Ten characters take an inch; those of the main title are larger.
  inches <- par("din")[1L]
  xlab <- or_else(xlab, wrapped(names(x$estimate), 10 * inches))
  more_lines <- if (is.character(xlab)) max(lengths(strsplit(xlab, "\n")) - 1L, 0L) else 0L
  room <- par(mar = par("mar") + c(more_lines, 0, 0, 0))
  on.exit(par(room))
  graphics::plot(range(shown) + c(-0.1, 0.1) * max(diff(range(shown)), 0.01), c(0, 2),
                 type = "n", xlab = "", ylab = or_else(ylab, ""),
                 main = or_else(main, wrapped(x$method, 7 * inches)), yaxt = "n", ...)
  graphics::title(xlab = xlab, line = par("mgp")[1L] + more_lines)
  if (!is.null(x$settings$learner))
    axis(2L, 1, pair_label(x$settings$learner, or_na(x$settings$other), is_ratio(x)), tick = FALSE)
  if (!is.null(x$null.value)) abline(v = x$null.value, lty = 2L)
  if (length(ends) && !anyNA(ends)) draw_interval(ends, par("usr")[1:2])
  points(x$estimate, 1, pch = 19L)
}

wrapped <- function(text, width) paste(strwrap(text, width), collapse = "\n")

# An infinite end is an arrow that points out of the picture.
draw_interval <- function(ends, border, height = 1) {
  drawn <- pmin(pmax(ends, border[1L]), border[2L])
  # An arrow without length has no direction.
  if (drawn[1L] == drawn[2L]) return(invisible())
  for (end in 1:2)
    arrows(mean(drawn), height, drawn[end], height, length = 0.08,
           angle = if (is.finite(ends[end])) 90 else 30)
}

# From the palette of Okabe and Ito, which colour-blind readers can tell apart.
colours <- c(data = "#8C8C8C", estimate = "#0072B2", null = "#333333", limit = "#B22222",
             other = "#E69F00")

# A picture is a list of layers, each a mark with coordinates, a label and a role.
draw_picture <- function(picture, x, xlab, ylab, main, ...) {
  layers <- lapply(picture$layers, with_outline)
  extent <- function(name) {
    values <- unlist(lapply(layers, function(layer) layer$extent[[name]]))
    values <- values[is.finite(values)]
    if (length(values)) range(values) else c(0, 1)
  }
  title <- if (nzchar(picture$title)) picture$title else x$method
  # The legend stands beside the curves, and covers none.
  labels <- Filter(nzchar, vapply(layers, `[[`, "", "label"))
  if (length(labels)) {
    room <- par(mar = par("mar") + c(0, 0, 0, min(16, 3 + 0.45 * max(nchar(labels)))))
    on.exit(par(room))
  }
  graphics::plot(extent("x"), extent("y"), type = "n", xlab = or_else(xlab, picture$xlabel),
                 ylab = or_else(ylab, picture$ylabel), main = or_else(main, title), bty = "l",
                 xaxt = if (is.null(picture$ticks)) "s" else "n", ...)
  if (!is.null(picture$ticks)) axis(1L, picture$ticks, names(picture$ticks))
  for (layer in layers) marks[[layer$mark]](layer, colours[[layer$role]])
  draw_legend(layers)
}

# The coordinates that a layer needs on the axes: bars have a width, and stand on zero. A line
# through one point would be invisible.
with_outline <- function(layer) {
  if (layer$mark %in% c("line", "broken") && length(layer$x) == 1L) layer$mark <- "points"
  layer$extent <- list(x = layer$x, y = layer$y)
  if (layer$mark == "bars") {
    gaps <- diff(sort(unique(layer$x)))
    layer$width <- or_else(layer$width, if (length(gaps)) min(gaps) else 1)
    layer$extent <- list(x = c(layer$x - layer$width / 2, layer$x + layer$width / 2),
                         y = c(0, layer$y))
  }
  layer
}

line_type <- function(layer) {
  if (layer$mark == "broken") return(3L)
  if (layer$mark %in% c("vertical", "horizontal") && layer$role != "estimate") 2L else 1L
}

marks <- list(
  # A border would hide bars that are as thin as it is.
  bars = function(layer, colour)
    rect(layer$x - layer$width / 2, 0, layer$x + layer$width / 2, layer$y, col = colour,
         border = if (length(layer$x) <= 40L) "white" else colour, lwd = 0.3),
  line = function(layer, colour) lines(layer$x, layer$y, col = colour, lwd = 2),
  broken = function(layer, colour)
    lines(layer$x, layer$y, col = colour, lwd = 2, lty = line_type(layer)),
  area = function(layer, colour)
    polygon(layer$x, layer$y, col = adjustcolor(colour, 0.25), border = NA),
  points = function(layer, colour) points(layer$x, layer$y, col = colour, pch = 19L),
  vertical = function(layer, colour)
    abline(v = layer$x, col = colour, lwd = 1.5, lty = line_type(layer)),
  horizontal = function(layer, colour)
    abline(h = layer$y, col = colour, lwd = 1.5, lty = line_type(layer)))

draw_legend <- function(layers) {
  layers <- Filter(function(layer) nzchar(layer$label), layers)
  if (!length(layers)) return(invisible())
  field <- function(name) vapply(layers, `[[`, "", name)
  mark <- field("mark")
  drawn <- mark %in% c("line", "broken", "vertical", "horizontal")
  corner <- par("usr")[c(2L, 4L)]
  legend(corner[1L], corner[2L], field("label"), xpd = NA, col = colours[field("role")], bty = "n", cex = 0.85,
         lty = ifelse(drawn, vapply(layers, line_type, 1L), 0L), lwd = 2,
         pch = ifelse(drawn, NA, ifelse(mark == "points", 19L, 15L)))
}
