# How many observations: predicted from a pilot sample.

plan_sample_size <- function(x, ...) UseMethod("plan_sample_size")

plan_sample_size.default <- function(x, y, learner, other = NULL, difference = NULL, ratio = NULL,
                                     width = NULL, n = NULL, power = 0.8, alpha = 0.05,
                                     learn_size = NULL, loss = NULL, positive = NULL, groups = NULL,
                                     weights = NULL, curve = TRUE, n_jobs = 1, pos_label = NULL,
                                     metric = NULL, ...) {
  refuse_unknown(...)
  if (missing(y)) stop_user("'y' is missing: give the response, or a formula and data")
  if (missing(learner)) stop_user("'learner' is missing: name one, such as \"lda\"")
  sample <- as_sample(x, y, as_positive(positive, pos_label), groups, substitute(x), substitute(y), weights,
                      metric)
  written <- list(substitute(learner), substitute(other))
  asked <- loss_or_metric(loss, metric, sample$response, sample$labels)
  arguments <- list(difference = difference, ratio = ratio, width = width, power = power,
                    alpha = alpha, learn_size = learn_size,
                    pos_label = positive_of(sample, metric), groups = sample$groups, curve = curve,
                    rng = draw_seed())
  fields <- with_workers(n_jobs, {
    learners <- list(as_learner(learner, "learner", written[[1L]], sample))
    if (!is.null(other)) learners[[2L]] <- as_learner(other, "other", written[[2L]], sample)
    call_python("plan_sample_size", x = sample$x, y = sample$y, learners = learners,
                arguments = c(asked, arguments), n = if (!is.null(n)) as.numeric(n))
  })
  new_plan(fields, sample$name)
}

new_plan <- function(fields, data_name) {
  fields$table <- as.data.frame(fields$table, optional = TRUE)
  fields$curve <- as.data.frame(fields$curve, optional = TRUE)
  structure(c(fields, list(method = "How many observations", data.name = data_name)),
            class = "ucvtest_plan")
}

plan_sample_size.formula <- formula_method(plan_sample_size.default)

# What fixed rules predicted is a pilot too: of the rules, and nothing is learnt.
plan_sample_size.ucvtest_losses <- function(x, learner = NULL, other = NULL, difference = NULL,
                                            width = NULL, n = NULL, power = 0.8, alpha = 0.05,
                                            ...) {
  refuse_unknown(...)
  if (is.null(difference) == is.null(width))
    stop_user("one of 'difference' and 'width' must be given, and ",
              if (is.null(width)) "none is" else "both are", ": the difference that matters, or ",
              "the width of the interval")
  learners <- by_place(list(learner = learner, other = other), length(x$learners))
  fields <- call_python("plan_losses", losses = x$json, arguments = c(
    learners, list(difference = difference, width = width, power = power, alpha = alpha)),
    n = if (!is.null(n)) as.numeric(n))
  new_plan(fields, x$data.name)
}

print.ucvtest_plan <- function(x, ...) {
  cat("\n\tHow many observations\n\ndata:  ", x$data.name, "\n\n", sep = "")
  shown <- intersect(c("n", "se", "width", "power", "power_low", "power_high"), names(x$table))
  print(x$table[shown], row.names = FALSE, digits = 3L, ...)
  cat("\n", paste(strwrap(x$verdict), collapse = "\n"), "\n\n", sep = "")
  print_lines(x$lines)
  invisible(x)
}

summary.ucvtest_plan <- function(object, notes = FALSE, ...) {
  refuse_others("summary", NULL, ...)
  structure(list(text = object$texts[1L + is_switch(notes, "notes")]), class = "summary.ucvtest")
}

# For methods_text().
methods_of_plan <- function(plan) {
  settings <- plan$settings
  seed <- if (!is.null(settings$rng)) paste(", random numbers from seed", settings$rng)
  link <- if (plan$goal == "ratio") " over " else " minus "
  fits <- if (plan$n_fits > 0) paste("after", plan$n_fits, "model fits") else "without a model fit"
  paste0("The number of observations was planned from a pilot sample of ", settings$n_pilot, " ",
         or_else(settings$units, "observations"), ", ", fits, ". The estimand is the ",
         settings$estimand, " (", paste(c(settings$learner, settings$other), collapse = link),
         "). The plan: ", sub("[.]$", "", plan$verdict), ". Computed by ucvtest ",
         utils::packageVersion("ucvtest"), " [@ucvtest]", seed, ".")
}

as.data.frame.ucvtest_plan <- function(x, row.names = NULL, optional = FALSE, ...) x$table

tidy.ucvtest_plan <- function(x, ...) {
  refuse_others("tidy", NULL, ...)
  as_tibble_if_any(x$table)
}

plot.ucvtest_plan <- function(x, kind = names(x$pictures), xlab = NULL, ylab = NULL, main = NULL,
                              ...) {
  kind <- one_of(kind, names(x$pictures), "kind")
  draw_picture(x$pictures[[kind]], x, xlab, ylab, main, ...)
  invisible(x)
}
