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
  if (is.null(recipe) || !identical(package, attr(recipe, "package"))) {
    recipe <- any_fit
    # One for all fits, of which the first is looked at.
    arguments$.predictor <- predictor(arguments$predict_type)
  } else if ("predict_type" %in% setdiff(names(arguments), names(formals(recipe))))
    stop("learner ", name, " takes no predict_type: what it predicts is known", call. = FALSE)
  as_numbers <- if (isTRUE(attr(recipe, "numbers"))) dummy_matrix else identity
  learn <- function(x, y, xnew, output)
    do.call(recipe, c(list(fit, as_numbers(x), y, as_numbers(xnew), output), arguments))
  structure(learn, numbers = isTRUE(attr(recipe, "numbers")))
}

# A function of the user's own returns the predictions itself.
plain_function <- function(f, arguments) {
  arguments <- named_as_in_r(arguments, f, "")
  structure(plain = TRUE,
            function(x, y, xnew, output) do.call(f, c(list(x, y, xnew), arguments)))
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

# As R's modelling functions do it: dummy variables, and no intercept, which learners add.
design_matrix <- function(terms, frame) {
  x <- model.matrix(terms, frame)
  x <- x[, colnames(x) != "(Intercept)", drop = FALSE]
  attr(x, "assign") <- attr(x, "contrasts") <- NULL
  x
}

# A data frame as numbers, its factors as the dummy variables that a formula has for them: one column
# of integer codes, which data.matrix() makes, would say that the levels are equally far apart.
dummy_matrix <- function(x) {
  if (!is.data.frame(x)) return(x)
  plain <- vapply(x, function(column) is.numeric(column) && is.null(dim(column)), NA)
  if (all(plain)) {
    x <- data.matrix(x)
    storage.mode(x) <- "double"
    return(x)
  }
  # The same label everywhere is no variable.
  x <- x[!vapply(x, function(column) is.factor(column) && nlevels(column) < 2L, NA)]
  frame <- model.frame(~ ., data = x, na.action = na.pass)
  design_matrix(terms(frame), frame)
}

# Of the whole data, so that every learning set has the same dummy variables.
with_factors <- function(x) {
  if (!is.data.frame(x)) return(x)
  text <- vapply(x, is.character, NA)
  x[text] <- lapply(x[text], factor)
  droplevels(x)
}

# How well-known learners learn and predict. Each is function(fit, x, y, xnew, output, ...) with
# the fitting function of the package; `output` is "label", "number", "probability" or "score"; of
# survival times "risk", or "event_probability" with the attribute "times".

second <- function(table, y) table[, levels(y)[nlevels(y)]]

log_odds <- function(probability) log(probability) - log1p(-probability)

# With s alone the fit is for this penalty only. A label is the second where the log-odds exceed
# rounding error, so that a fit without features predicts the first class where the classes are
# tied.
fit_glmnet <- function(fit, x, y, xnew, output, s = NULL, lambda = s, family = NULL, ...) {
  if (is.null(lambda))
    stop("glmnet needs the penalty to predict with: give s=0.08, for example", call. = FALSE)
  if (is.null(family))
    family <- if (inherits(y, "Surv")) "cox" else if (!is.factor(y)) "gaussian" else if (nlevels(y) > 2L) "multinomial" else "binomial"
  x <- as.matrix(x)
  fitted <- fit(x, y, family = family, lambda = lambda, ...)
  at <- if (is.null(s)) lambda[length(lambda)] else s
  predicted <- function(type) predict(fitted, as.matrix(xnew), s = at, type = type)
  if (inherits(y, "Surv"))
    predicted_survival(fitted, as.matrix(xnew), output, list(x = x, y = y), s = at)
  else if (!is.factor(y)) predicted("response")[, 1L]
  else if (nlevels(y) > 2L) predicted("class")[, 1L]
  else switch(output,
    label = levels(y)[1L + (predicted("link")[, 1L] > 1e-9)],
    score = predicted("link")[, 1L],
    predicted("response")[, 1L])
}

fit_ranger <- function(fit, x, y, xnew, output, num.threads = 1, ...) {
  probability <- is.factor(y) && output != "label"
  fitted <- fit(x = x, y = y, probability = probability, num.threads = num.threads, ...)
  if (inherits(y, "Surv"))
    return(predicted_survival(fitted, xnew, output, num.threads = num.threads))
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

# Any other function that is called as f(x, y, ...) or f(formula, data, ...) and has a predict()
# method.
any_fit <- function(fit, x, y, xnew, output, predict_type = NULL,
                    .predictor = predictor(predict_type), ...) {
  classes <- if (is.factor(y)) levels(y)
  if (!takes_formula(names(formals(args(fit)))))
    return(.predictor(fit(x, y, ...), xnew, classes, output, learnt = list(x = x, y = y)))
  data <- as.data.frame(x)
  data$.response <- y
  # In this environment, where coxph() looks again for what it learnt from.
  formula <- .response ~ .
  if (is_rfsrc(fit)) list2env(with_time_and_status(formula, data), environment())
  fitted <- fit(formula, data = data, ...)
  .predictor(fitted, as.data.frame(xnew), classes, output, learnt = list(x = data, y = y))
}

takes_formula <- function(names)
  all(c("formula", "data") %in% names) && names[1L] == "formula"

is_rfsrc <- function(fit)
  "randomForestSRC" %in% loadedNamespaces() &&
    identical(fit, getExportedValue("randomForestSRC", "rfsrc"))

# rfsrc() has the time and the status as two columns, which its formula names.
with_time_and_status <- function(formula, data) {
  response <- as.character(formula[[2L]])
  times <- data[[response]]
  if (!inherits(times, "Surv")) return(list(formula = formula, data = data))
  data[[response]] <- NULL
  data$.time <- times[, "time"]
  data$.status <- times[, "status"]
  formula[[2L]] <- quote(Surv(.time, .status))
  list(formula = formula, data = data)
}

# `numbers` says that the function takes a matrix, or makes integer codes of factors itself.
recipes <- list(
  glmnet = structure(fit_glmnet, package = "glmnet", numbers = TRUE),
  cv.glmnet = structure(any_fit, package = "glmnet", numbers = TRUE),
  ranger = structure(fit_ranger, package = "ranger"),
  randomForest = structure(fit_random_forest, package = "randomForest"),
  svm = structure(fit_svm, package = "e1071", numbers = TRUE),
  train = structure(fit_train, package = "caret"),
  lda = structure(fit_lda, package = "MASS", numbers = TRUE),
  qda = structure(any_fit, package = "MASS", numbers = TRUE))

# What a fit predicts, by the ways in which R's packages do: function(fitted, data, classes, output,
# learnt) with the classes, the positive one last, or NULL for numbers, and what was learnt from.
# `predict_type` is the type of predict() that a user names.
predictor <- function(predict_type = NULL) {
  force(predict_type)
  checked <- FALSE
  function(fitted, data, classes, output, learnt) {
    if (inherits(learnt$y, "Surv"))
      return(predicted_survival(fitted, data, output, learnt, predict_type))
    if (is.null(classes)) {
      value <- predicted_numbers(fitted, data, output, if (!checked) learnt, predict_type)
      checked <<- TRUE
      return(if (output == "label") labels_of_numbers(fitted, value, learnt$y) else value)
    }
    if (inherits(fitted, "glm") && is.null(predict_type)) {
      value <- predict(fitted, data, type = if (output == "score") "link" else "response")
      return(if (output == "label") classes[1L + (value > 0.5)] else value)
    }
    types <- if (output == "label") "class"
             else or_else(predict_type, c("prob", "probs", "posterior", "response"))
    for (type in types) {
      value <- tryCatch(predict(fitted, data, type = type), error = function(e) NULL)
      value <- predicted_classes(value, classes, output)
      if (!is.null(value)) return(value)
    }
    if (output == "label" && !is.null(predict_type)) {
      value <- predicted_classes(predict(fitted, data, type = predict_type), classes, "probability")
      if (is.numeric(value)) return(classes[1L + (value > 0.5)])
    }
    predicted_classes(predict(fitted, data), classes, output, last = TRUE)
  }
}

predicted_classes <- function(value, classes, output, last = FALSE) {
  # predict() of lda and qda, and of ranger.
  if (is.list(value) && !is.data.frame(value))
    value <- if (output == "label" && !is.null(value$class)) value$class
             else or_else(value$posterior, value$predictions)
  if (is.null(value)) return(NULL)
  positive <- classes[length(classes)]
  table <- length(dim(value)) == 2L && ncol(value) > 1L
  if (output != "label" && table && positive %in% colnames(value)) return(value[, positive])
  if (output != "label" && is.numeric(value) && !table) return(one_column(value))
  if (output == "label" && (is.factor(value) || is.character(value))) return(value)
  if (last) one_column(value)
}

one_column <- function(value) {
  if (is.list(value) && !is.data.frame(value)) value <- or_else(value$predictions, value)
  if (length(dim(value)) == 2L && ncol(value) == 1L) as.vector(as.matrix(value)) else value
}

or_else <- function(value, other) if (is.null(value)) other else value

# Numbers on the scale of the response, wherever predict() is on another one by default; checked
# where it is given what was learnt from.
predicted_numbers <- function(fitted, data, output, learnt, predict_type) {
  # Scores only rank, and the link keeps apart what rounds to the same response.
  if (output == "score" && is.null(predict_type)) return(one_column(predict(fitted, data)))
  found <- if (is.null(predict_type)) response_type(fitted) else list(type = predict_type, known = TRUE)
  predicted <- function(data)
    one_column(if (is.null(found$type)) predict(fitted, data)
               else predict(fitted, data, type = found$type))
  value <- predicted(data)
  if (!found$known && !is.null(learnt)) refuse_other_scale(fitted, predicted(learnt$x), learnt$y)
  value
}

# Of survival times: risks, which are higher where events are earlier, or the probability of an
# event by each time, a column for each. `predict_type` is the type of predict() that is of risks.
predicted_survival <- function(fitted, data, output, learnt = NULL, predict_type = NULL, ...) {
  times <- attr(output, "times")
  kinds <- c("coxph", "coxnet", "cv.glmnet", "ranger", "rfsrc", "survreg")
  kind <- intersect(kinds, class(fitted))[1L]
  if (output == "risk") {
    if (!is.null(predict_type)) return(one_column(predict(fitted, data, type = predict_type, ...)))
    if (is.na(kind))
      refuse_survival_fit(fitted, "risks, or name the type of predict() that is of risks, as in ",
                          "r_learner(f, predict_type = \"risk\")")
    return(switch(kind,
      # Strata have one scale.
      coxph = predict(fitted, data, type = "lp", reference = "sample"),
      survreg = -predict(fitted, data, type = "lp"),
      ranger = rowSums(rows_of(predict(fitted, data, ...)$chf, data)),
      rfsrc = as.vector(predict(fitted, data, ...)$predicted),
      predict(fitted, data, type = "link", ...)[, 1L]))
  }
  if (is.na(kind) || kind == "survreg")
    refuse_survival_fit(fitted, "the probability of an event by each time")
  if (kind == "coxph") {
    response <- all.vars(stats::formula(fitted))[1L]
    by_then <- lapply(times, function(time) {
      data[[response]] <- survival::Surv(rep(time, nrow(data)), rep(0, nrow(data)))
      # Penalised models have no type "survival".
      1 - exp(-predict(fitted, data, type = "expected"))
    })
    return(do.call(cbind, by_then))
  }
  if (kind %in% c("ranger", "rfsrc")) {
    predicted <- predict(fitted, data, ...)
    known <- if (kind == "rfsrc") predicted$time.interest else predicted$unique.death.times
    steps <- cbind(1, rows_of(predicted$survival, data))
    return(1 - steps[, 1L + findInterval(times, known), drop = FALSE])
  }
  curves <- survival::survfit(fitted, x = learnt$x, y = learnt$y, newx = data, ...)
  1 - t(matrix(summary(curves, times = times, extend = TRUE)$surv, length(times)))
}

rows_of <- function(values, data) matrix(values, nrow(data))

refuse_survival_fit <- function(fitted, ...)
  stop("what predict() of a fit of class '", class(fitted)[1L], "' says of survival times is not ",
       "known: give a function(x, y, xnew) that returns ", ..., call. = FALSE)

# The numbers 0 and 1 are labels for a binomial family; other regressions do not classify.
labels_of_numbers <- function(fitted, value, y) {
  binomial <- inherits(fitted, "glm") && fitted$family$family %in% c("binomial", "quasibinomial")
  if (binomial) sort(unique(y))[1L + (value > 0.5)] else value
}

# Models that predict responses, whether or not their predict() has a type.
predicts_responses <- c(
  "lm", "rlm", "lqs", "nls", "loess", "gls", "lme", "rq", "rpart", "tree", "nnet", "ppr", "svm",
  "ranger", "randomForest", "knnreg", "train", "ksvm", "gausspr", "rvm", "xgb.Booster")

# Models whose predict() hands the type on to another function, or is of S4 and lists none.
types_of_response <- c(cv.glmnet = "response", cv.relaxed = "response", vglm = "response",
                       vgam = "response")

# Linear predictors, by the names that predict() methods have for them.
linear_predictors <- c("link", "lp", "linear.predictor", "linear.predictors", "linear", "eta")

# The type of predict() that is of responses, NULL for the one that it has without; and whether this
# is known, from the class or from the types that the method lists.
response_type <- function(fitted) {
  for (class in class(fitted)) {
    listed <- types_of_response[class]
    if (!is.na(listed)) return(list(type = unname(listed), known = TRUE))
    types <- listed_types(class)
    if ("response" %in% types || isTRUE(types %in% linear_predictors))
      return(list(type = "response", known = TRUE))
    if (length(types) && types[1L] %in% linear_predictors)
      stop("predict() of a fit of class '", class, "' returns '", types[1L], "', which is no ",
           "response: name the type that is, as in r_learner(f, predict_type = \"",
           c(types[-1L], "response")[1L], "\"); it has ",
           paste0("\"", types, "\"", collapse = ", "), call. = FALSE)
    if (class %in% predicts_responses) return(list(type = NULL, known = TRUE))
  }
  list(type = NULL, known = FALSE)
}

# The types that the method of predict() for a class has, its default first.
listed_types <- function(class) {
  method <- utils::getS3method("predict", class, optional = TRUE, envir = globalenv())
  if (is.null(method)) return(NULL)
  types <- tryCatch(eval(formals(method)$type, environment(method)), error = function(e) NULL)
  if (is.character(types)) types
}

# A regression is right about its own learning set on average. One that is off by more than half a
# standard deviation is on another scale, or learnt nothing.
refuse_other_scale <- function(fitted, value, y) {
  off <- is.numeric(value) && is.numeric(y) && length(value) == length(y) &&
    isTRUE(abs(mean(value) - mean(y)) > stats::sd(y) / 2)
  if (!off) return(invisible())
  shown <- function(values) paste(format(range(values), digits = 3L), collapse = " to ")
  stop("predict() of a fit of class '", class(fitted)[1L], "' returned ", shown(value),
       " for responses of ", shown(y), ", so it may be on another scale, such as that of a link: ",
       "name the type of predict() that returns responses, as in r_learner(f, predict_type = ",
       "\"response\"), or give a function(x, y, xnew) that returns them", call. = FALSE)
}

# The random numbers of a fit follow from its seed, and those of the session go on as if nothing
# had happened.
with_seed <- function(seed, expression) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv())
          else assign(".Random.seed", before, envir = globalenv()))
  set.seed(seed, kind = "default", normal.kind = "default", sample.kind = "default")
  expression
}
