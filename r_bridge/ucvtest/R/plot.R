# Pictures in base graphics: the interval, or what a result brings along as data.

plot.ucvtest <- plot.ucvtest_comparison <- plot.ucvtest_plan <- plot.ucvtest_selection <-
  function(x, kind = NULL, xlab = NULL, ylab = NULL, main = NULL, ...) {
    picture <- picture_of(x, kind)
    draw <- if (is.null(picture$rows)) draw_picture else draw_intervals
    draw(picture, or_else(xlab, picture$xlabel), or_else(ylab, picture$ylabel),
         or_else(main, picture$title), ...)
    invisible(x)
  }

# A picture is a list of labels, and of layers or of rows of intervals.
picture_of <- function(x, kind) {
  kinds <- plot_kinds(x)
  kind <- if (is.null(kind)) kinds[1L] else one_of(kind, kinds, "kind")
  if (kind == "interval") return(picture_of_intervals(x))
  picture <- x$pictures[[kind]]
  if (!nzchar(picture$title)) picture$title <- x$method
  picture
}

# The interval first, where there is one, as in Python.
plot_kinds <- function(x) {
  pictures <- names(x$pictures)
  if (inherits(x, c("ucvtest_plan", "ucvtest_selection"))) pictures
  else if (is.null(x$conf.int) && length(pictures)) c(pictures, "interval")
  else c("interval", pictures)
}

picture_of_intervals <- function(x) {
  of_one <- inherits(x, "ucvtest")
  rows <- if (of_one) tidy_columns(x) else as.data.frame(x)
  ratio <- is_ratio(if (of_one) x else about(x))
  link <- if (ratio) "over" else "minus"
  level <- paste0(format(100 * or_na(x$conf.level[1L])), "% ")
  rows$label <- pair_label(rows$learner, rows$other, ratio)
  if (of_one) return(list(
    rows = rows, null = x$null.value, xlabel = names(x$estimate), ylabel = "",
    title = paste0(x$method, if (!is.null(x$conf.int)) paste0(", ", level, interval_name(x)))))
  several <- length(unique(rows$label)) > 1L
  rows$label <- paste0(rows$test, ": ", rows$label)
  list(rows = rows, null = if (ratio) 1 else 0, ylabel = "",
       xlabel = paste0("first ", link, " second, ", level, "intervals"),
       title = if (several) paste(if (ratio) "Ratios" else "Differences", "of learners")
               else paste(rows$learner[1L], link, rows$other[1L]))
}

pair_label <- function(learner, other, ratio)
  ifelse(is.na(other), learner, paste(learner, if (ratio) "/" else "-", other))

draw_intervals <- function(picture, xlab, ylab, main, ...) {
  rows <- picture$rows
  ends <- cbind(rows$conf.low, rows$conf.high)
  shown <- c(rows$estimate, ends, picture$null)
  shown <- if (any(is.finite(shown))) range(shown[is.finite(shown)]) else c(0, 0)
  # Ten characters take an inch; those of the main title are larger.
  inches <- par("din")[1L]
  if (is.character(xlab)) xlab <- wrapped(xlab, 10 * inches)
  if (is.character(main)) main <- wrapped(main, 7 * inches)
  more_lines <- if (is.character(xlab)) max(lengths(strsplit(xlab, "\n")) - 1L, 0L) else 0L
  named <- !is.na(rows$label)
  left <- max(4.1, min(2.5 * inches, 1 + 0.5 * max(nchar(rows$label[named]), 0L)))
  room <- par(mar = c(4.1 + more_lines, left, 4.1, 1.1))
  on.exit(par(room))
  places <- rev(seq_len(nrow(rows)))
  graphics::plot(shown + c(-0.06, 0.06) * max(diff(shown), 0.01), c(0, nrow(rows) + 1), type = "n",
                 xlab = "", ylab = ylab, main = main, yaxt = "n", bty = "n", ...)
  graphics::title(xlab = xlab, line = par("mgp")[1L] + more_lines)
  if (any(named)) axis(2L, places[named], rows$label[named], las = 1L, tick = FALSE)
  abline(v = picture$null, lty = 2L)
  border <- par("usr")[1:2]
  for (row in which(!is.na(ends[, 1L]))) draw_interval(ends[row, ], border, places[row])
  points(rows$estimate, places, pch = 19L)
}

wrapped <- function(text, width) paste(strwrap(text, width), collapse = "\n")

# An infinite end is an arrow that points out of the picture.
draw_interval <- function(ends, border, height) {
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

# Layers, each a mark with coordinates, a label and a role.
draw_picture <- function(picture, xlab, ylab, main, ...) {
  layers <- lapply(picture$layers, with_outline)
  extent <- function(name) {
    values <- unlist(lapply(layers, function(layer) layer$extent[[name]]))
    values <- values[is.finite(values)]
    if (length(values)) range(values) else c(0, 1)
  }
  # The legend stands beside the curves, and covers none.
  labels <- Filter(nzchar, vapply(layers, `[[`, "", "label"))
  if (length(labels)) {
    room <- par(mar = par("mar") + c(0, 0, 0, min(16, 3 + 0.45 * max(nchar(labels)))))
    on.exit(par(room))
  }
  graphics::plot(extent("x"), extent("y"), type = "n", xlab = xlab, ylab = ylab, main = main, bty = "l",
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
