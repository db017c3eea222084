# How many observations: predicted from a pilot sample.

plan_sample_size <- function(x, ...) UseMethod("plan_sample_size")

plan_sample_size.default <- function(x, y, learner, other = NULL, difference = NULL, ratio = NULL,
                                     width = NULL, n = NULL, power = 0.8, alpha = 0.05,
                                     learn_size = NULL, loss = NULL, pos_label = NULL, groups = NULL,
                                     weights = NULL, ...) {
  refuse_unknown(...)
  if (missing(y)) stop_user("'y' is missing: give the response, or a formula and data")
  if (missing(learner)) stop_user("'learner' is missing: name one, such as \"lda\"")
  sample <- as_sample(x, y, pos_label, groups, substitute(x), substitute(y), weights)
  learners <- list(as_learner(learner, "learner", substitute(learner), sample))
  if (!is.null(other))
    learners[[2L]] <- as_learner(other, "other", substitute(other), sample)
  fields <- call_python("plan_sample_size", x = sample$x, y = sample$y, learners = learners,
    arguments = list(difference = difference, ratio = ratio, width = width, power = power,
                     alpha = alpha, learn_size = learn_size, loss = as_loss(loss, sample$response),
                     pos_label = sample$pos_label, groups = sample$groups,
                     rng = draw_seed()),
    n = if (!is.null(n)) as.numeric(n))
  fields$table <- as.data.frame(fields$table, optional = TRUE)
  fields$curve <- as.data.frame(fields$curve, optional = TRUE)
  structure(c(fields, list(method = "How many observations", data.name = sample$name)),
            class = "ucvtest_plan")
}

plan_sample_size.formula <- formula_method(plan_sample_size.default)

print.ucvtest_plan <- function(x, ...) {
  cat("\n\tHow many observations\n\ndata:  ", x$data.name, "\n\n", sep = "")
  shown <- intersect(c("n", "se", "width", "power", "power_low", "power_high"), names(x$table))
  print(x$table[shown], row.names = FALSE, digits = 3L, ...)
  cat("\n", paste(strwrap(x$verdict), collapse = "\n"), "\n\n", sep = "")
  invisible(x)
}

as.data.frame.ucvtest_plan <- function(x, row.names = NULL, optional = FALSE, ...) x$table

plot.ucvtest_plan <- function(x, kind = names(x$pictures), xlab = NULL, ylab = NULL, main = NULL,
                              ...) {
  kind <- one_of(kind, names(x$pictures), "kind")
  draw_picture(x$pictures[[kind]], x, xlab, ylab, main, ...)
  invisible(x)
}
