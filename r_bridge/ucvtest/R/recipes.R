# How learners of other packages learn and predict; read by the Python package too, for R's learners
# in Python. What a name means is function(x, y, xnew, output).

recipe_of <- function(name, arguments) {
  if (is.function(name)) return(plain_function(name, arguments))
  if (grepl("^\\s*(function\\s*\\(|\\\\\\s*\\()", name))
    return(plain_function(eval(parse(text = name), globalenv()), arguments))
  parts <- strsplit(name, "::", fixed = TRUE)[[1L]]
  package <- if (length(parts) > 1L) parts[1L]
             else if (identical(attr(recipes[[name]], "package"), name)) name
  if (!is.null(package) && !requireNamespace(package, quietly = TRUE))
    stop("R package '", package, "' is not installed: run install.packages(\"", package,
         "\") in R", call. = FALSE)
  fit <- if (is.null(package)) get0(name, globalenv(), mode = "function")
         else get0(parts[length(parts)], asNamespace(package), mode = "function")
  if (is.null(fit))
    stop("R has no function '", name, "': write it as \"package::function\", or give ",
         "\"function(x, y, xnew) ...\"", call. = FALSE)
  arguments <- named_as_in_r(arguments, fit, parts[length(parts)])
  recipe <- recipes[[parts[length(parts)]]]
  if (is.null(recipe) || !identical(package, attr(recipe, "package"))) recipe <- any_fit
  function(x, y, xnew, output)
    do.call(recipe, c(list(fit, x, y, xnew, output), arguments))
}

# A function of the user's own returns the predictions itself.
plain_function <- function(f, arguments) {
  arguments <- named_as_in_r(arguments, f, "")
  function(x, y, xnew, output) do.call(f, c(list(x, y, xnew), arguments))
}

# Python has no dots in names: num_trees is num.trees where the function has that.
named_as_in_r <- function(arguments, f, name) {
  method <- if (nzchar(name)) utils::getS3method(name, "default", TRUE, environment(f))
  known <- c(names(formals(f)), if (!is.null(method)) names(formals(method)))
  dotted <- gsub("_", ".", names(arguments), fixed = TRUE)
  replace <- !(names(arguments) %in% known) & dotted %in% known
  names(arguments)[replace] <- dotted[replace]
  arguments
}

# How well-known learners learn and predict. Each is function(fit, x, y, xnew, output, ...) with
# the fitting function of the package; `output` is "label", "number", "probability" or "score".

second <- function(table, y) table[, levels(y)[nlevels(y)]]

log_odds <- function(probability) log(probability) - log1p(-probability)

# With s alone the fit is for this penalty only. A label is the second where the log-odds exceed
# rounding error, so that a fit without features predicts the first class where the classes are
# tied.
fit_glmnet <- function(fit, x, y, xnew, output, s = NULL, lambda = s, family = NULL, ...) {
  if (is.null(lambda))
    stop("glmnet needs the penalty to predict with: give s=0.08, for example", call. = FALSE)
  if (is.null(family))
    family <- if (!is.factor(y)) "gaussian" else if (nlevels(y) > 2L) "multinomial" else "binomial"
  x <- data.matrix(x)
  fitted <- fit(x, y, family = family, lambda = lambda, ...)
  at <- if (is.null(s)) lambda[length(lambda)] else s
  predicted <- function(type) predict(fitted, data.matrix(xnew), s = at, type = type)
  if (!is.factor(y)) predicted("response")[, 1L]
  else if (nlevels(y) > 2L) predicted("class")[, 1L]
  else switch(output,
    label = levels(y)[1L + (predicted("link")[, 1L] > 1e-9)],
    score = predicted("link")[, 1L],
    predicted("response")[, 1L])
}

fit_ranger <- function(fit, x, y, xnew, output, num.threads = 1, ...) {
  probability <- is.factor(y) && output != "label"
  fitted <- fit(x = x, y = y, probability = probability, num.threads = num.threads, ...)
  predictions <- predict(fitted, data = xnew, num.threads = num.threads)$predictions
  if (probability) second(predictions, y) else predictions
}

fit_random_forest <- function(fit, x, y, xnew, output, ...) {
  fitted <- fit(x, y, ...)
  if (is.factor(y) && output != "label") second(predict(fitted, xnew, type = "prob"), y)
  else predict(fitted, xnew)
}

fit_svm <- function(fit, x, y, xnew, output, ...) {
  probability <- output %in% c("probability", "number") && is.factor(y)
  fitted <- fit(x, y, probability = probability, ...)
  predictions <- predict(fitted, xnew, probability = probability,
                         decision.values = output == "score")
  if (probability) return(second(attr(predictions, "probabilities"), y))
  if (!is.factor(y) || output != "score") return(predictions)
  values <- attr(predictions, "decision.values")
  # The name of the column says which class is on the positive side.
  if (startsWith(colnames(values)[1L], paste0(levels(y)[2L], "/"))) values[, 1L]
  else -values[, 1L]
}

fit_lda <- function(fit, x, y, xnew, output, ...) {
  predictions <- predict(fit(x, y, ...), xnew)
  switch(output, label = predictions$class,
         score = log_odds(second(predictions$posterior, y)), second(predictions$posterior, y))
}

# Without a grid to choose from nothing is resampled inside.
fit_train <- function(fit, x, y, xnew, output, trControl = NULL, tuneGrid = NULL, ...) {
  if (!"package:caret" %in% search())
    stop("caret's methods are found after  library(caret)  only", call. = FALSE)
  single <- is.null(trControl) && !is.null(tuneGrid) && nrow(tuneGrid) == 1L
  if (is.null(trControl))
    trControl <- getExportedValue("caret", "trainControl")(
      method = if (single) "none" else "cv", classProbs = is.factor(y) && output != "label")
  # Names of classes become names of columns.
  if (is.factor(y) && output != "label") levels(y) <- make.names(levels(y))
  fitted <- fit(x, y, trControl = trControl, tuneGrid = tuneGrid, ...)
  if (!is.factor(y) || output == "label") predict(fitted, xnew)
  else second(predict(fitted, xnew, type = "prob"), y)
}

# Any other function that is called as f(x, y, ...) and has a predict() method.
any_fit <- function(fit, x, y, xnew, output, ...) {
  predictions <- predict(fit(x, y, ...), xnew)
  if (output == "label" && is.list(predictions)) predictions <- predictions$class
  else if (is.list(predictions)) predictions <- second(predictions$posterior, y)
  if (length(dim(predictions)) == 2L && ncol(predictions) == 1L) predictions <- predictions[, 1L]
  predictions
}

recipes <- list(
  glmnet = structure(fit_glmnet, package = "glmnet"),
  ranger = structure(fit_ranger, package = "ranger"),
  randomForest = structure(fit_random_forest, package = "randomForest"),
  svm = structure(fit_svm, package = "e1071"),
  train = structure(fit_train, package = "caret"),
  lda = structure(fit_lda, package = "MASS"))

# The random numbers of a fit follow from its seed, and those of the session go on as if nothing
# had happened.
with_seed <- function(seed, expression) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv())
          else assign(".Random.seed", before, envir = globalenv()))
  set.seed(seed, kind = "default", normal.kind = "default", sample.kind = "default")
  expression
}
