# R functions as learners. Python tells them which rows learn and which are tested; so x and y
# are handed over as the user gave them, factors and data frames included.

# What Python needs for a learner: its short name, or its R function and how to write it.
as_learner <- function(learner, argument, expression, sample) {
  if (is.character(learner) && length(learner) == 1L && !is.na(learner)) {
    refuse_gaps(sample, learner)
    return(learner)
  }
  if (!is.function(learner))
    stop_user("'", argument, "' must be the name of a learner, such as \"lda\" or ",
              "\"lasso:0.08\", or a function(x, y, xnew), got ", describe(learner))
  list(name = function_name(expression),
       predict = split_predictor(learner, sample$features, sample$response))
}

# Learners that look at no features, and so at none that are missing.
featureless <- "majority"

refuse_gaps <- function(sample, learner) {
  if (is.null(sample$missing) || learner %in% featureless) return(invisible())
  stop_user("'", sample$where, "' has ", sample$missing, ", which learner ", learner,
            " cannot use: drop these observations (na.action = na.omit with a formula), or impute ",
            "them inside an R learner, from what it learns from: function(x, y, xnew)")
}

function_name <- function(expression) {
  plain <- is.symbol(expression) ||
    (is.call(expression) && as.character(expression[[1L]])[1L] %in% c("::", ":::"))
  if (plain) deparse1(expression) else "R function"
}

split_predictor <- function(learner, x, y) {
  force(learner)
  guarded(function(learning, testing, other) {
    # A test may have exchanged the responses, to see what chance does.
    if (!is.null(other)) y <- like_response(other, y)
    prediction_vector(learner(x[learning, , drop = FALSE], y[learning], x[testing, , drop = FALSE]))
  })
}

# Predictions as Python reads them: labels as text, numbers as numbers, anything else as it is.
prediction_vector <- function(value) {
  if (is.factor(value) || is.logical(value) && !anyNA(value)) value <- as.character(value)
  if (is.character(value) || is.numeric(value)) as.vector(value) else value
}

# Losses see labels as the user wrote them.
as_loss <- function(loss, y) {
  if (!is.function(loss)) return(loss)
  guarded(function(truth, prediction)
    as.numeric(loss(like_response(truth, y), like_response(prediction, y))))
}

# Python calls the function through R's C interface, which prints errors, forgets their class
# and hides the handlers that surround the call. So nothing but a value leaves the function:
# errors and interrupts travel as values, and warnings wait in the session until Python is done.
# An interrupt between the handlers and Python's own waits for the next call.
guarded <- function(f) {
  force(f)
  function(...) {
    on.exit(.Call(C_enter_python))
    suspendInterrupts({
      .Call(C_leave_python)
      tryCatch(
        list("value", allowInterrupts(withCallingHandlers(f(...), warning = keep_warning))),
        error = function(condition) list("error", condition),
        interrupt = function(condition) list("interrupt"))
    })
  }
}

# One of each text: a learner that warns at every fit would otherwise warn thousands of times.
keep_warning <- function(condition) {
  .session$warnings[[conditionMessage(condition)]] <- condition
  tryInvokeRestart("muffleWarning")
}
