# R functions as learners in a Python process. Python keeps none of R's values between two fits:
# it says which rows learn and which are tested, and gets predictions back.

# Errors, interrupts and warnings leave as values: rpy2 would print them and forget their class.
guarded <- function(f) {
  force(f)
  function(...) {
    warnings <- character()
    keep <- function(condition) {
      warnings <<- c(warnings, conditionMessage(condition))
      tryInvokeRestart("muffleWarning")
    }
    tryCatch({
      value <- withCallingHandlers(f(...), warning = keep)
      list("value", value, unique(warnings))
    }, error = function(condition) list("error", condition),
    interrupt = function(condition) list("interrupt"))
  }
}

# `learn` is function(x, y, xnew, output); y is replaced where a test permutes the response.
split_predictor <- function(learn, x, y) {
  guarded(function(learning, testing, output, seed, response, times = NULL) {
    if (!is.null(response))
      y <- if (is.factor(y)) factor(levels(y)[response], levels = levels(y)) else response
    value <- with_seed(seed, learn(x[learning, , drop = FALSE], y[learning],
                                   x[testing, , drop = FALSE], structure(output, times = times)))
    predictions_for_python(value, output, times, if (is.factor(y) && nlevels(y) > 2L) levels(y))
  })
}

as_features <- function(values, names, frame) {
  if (!frame) return(structure(values, dimnames = list(NULL, names)))
  names(values) <- names
  data.frame(values, check.names = FALSE, stringsAsFactors = TRUE)
}

as_labels <- function(codes, levels) factor(levels[codes], levels = levels)

as_survival <- guarded(function(time, event) survival::Surv(time, event))

# What Python's name for a learner means: function(x, y, xnew, output).
find_learner <- guarded(function(name, arguments) recipe_of(name, arguments))
