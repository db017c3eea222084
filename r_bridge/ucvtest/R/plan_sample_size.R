# How many observations: predicted from a pilot sample.

plan_sample_size <- function(x, ...) UseMethod("plan_sample_size")

plan_sample_size.default <- function(x, y, learner, other = NULL, difference = NULL, ratio = NULL,
                                     width = NULL, n = NULL, power = 0.8, alpha = 0.05,
                                     learn_size = NULL, loss = NULL, positive = NULL, groups = NULL,
                                     weights = NULL, curve = TRUE, n_jobs = 1, pos_label = NULL,
                                     metric = NULL, ...) {
  refuse_unknown(...)
  refuse_lacking(y = the_response, learner = "name one, such as \"lda\"")
  new_plan(ask_of_data("plan"))
}

new_plan <- function(fields) {
  fields$table <- as.data.frame(fields$table, optional = TRUE)
  fields$curve <- as.data.frame(fields$curve, optional = TRUE)
  structure(c(without(fields, "labels"), method = "How many observations"), class = "ucvtest_plan")
}

plan_sample_size.formula <- formula_method(plan_sample_size.default)

# What fixed rules predicted is a pilot too: of the rules, and nothing is learnt.
plan_sample_size.ucvtest_losses <- function(x, learner = NULL, other = NULL, difference = NULL,
                                            width = NULL, n = NULL, power = 0.8, alpha = 0.05,
                                            asks = NULL, promotions = NULL, ...) {
  refuse_unknown(...)
  if (is.null(difference) == is.null(width))
    stop_user("one of 'difference' and 'width' must be given, and ",
              if (is.null(width)) "none is" else "both are", ": the difference that matters, or ",
              "the width of the interval")
  new_plan(ask_of_losses("plan", X = x$json))
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

as.data.frame.ucvtest_plan <- as.data.frame.ucvtest_selection <- as.data.frame.ucvtest_gains <-
  function(x, row.names = NULL, optional = FALSE, ...) x$table

