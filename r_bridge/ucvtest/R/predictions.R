# What fits of other packages predict; read by the Python package too, like recipes.R.

# What a fit predicts: function(fitted, data, classes, output, learnt) with the classes, the positive
# one last, or NULL for numbers, and what was learnt from. The first fit is looked at, to see by which
# type predict() says what is asked for. `predict_type` is the type that a user names.
predictor <- function(predict_type = NULL) {
  force(predict_type)
  checked <- FALSE
  ways <- list()
  function(fitted, data, classes, output, learnt) {
    if (inherits(learnt$y, "Surv"))
      return(predicted_survival(fitted, data, output, learnt, predict_type))
    if (is.null(classes)) {
      value <- predicted_numbers(fitted, data, output, if (!checked) learnt, predict_type)
      checked <<- TRUE
      return(if (output == "label") labels_of_numbers(fitted, value, learnt$y) else value)
    }
    known <- any(class(fitted) %in% names(types_of_classes))
    if (inherits(fitted, "glm") && is.null(predict_type) && !known) {
      value <- predict(fitted, data, type = if (output == "score") "link" else "response")
      return(if (output == "label") classes[1L + (value > 0.5)] else value)
    }
    if (is.null(ways[[output]]))
      ways[[output]] <<- way_to_predict(fitted, classes, output, learnt, predict_type)
    way <- ways[[output]]
    way$read(predicted_as(fitted, data, way$type), classes)
  }
}

# The types of predict() for labels and for probabilities of classes, by the class of the fit; NA is
# what it returns without a type.
types_of_classes <- list(
  C5.0 = c("class", "prob"), Weka_classifier = c("class", "probability"),
  classbagg = c("class", "prob"), cv.glmnet = c("class", "response"), earth = c("class", "response"),
  fda = c("class", "posterior"), glmnet = c("class", "response"), kknn = c("raw", "prob"),
  knn3 = c("class", "prob"), ksvm = c("response", "probabilities"), lda = c(NA, NA),
  lrm = c("fitted", "fitted"),
  multinom = c("class", "probs"), naiveBayes = c("class", "raw"), nnet = c("class", "raw"),
  party = c("response", "prob"), polr = c("class", "probs"), qda = c(NA, NA),
  randomForest = c("response", "prob"), ranger = c(NA, NA), rda = c(NA, NA), rfsrc = c(NA, NA),
  rpart = c("class", "prob"), svm = c(NA, NA), train = c("raw", "prob"), tree = c("class", "vector"),
  xgboost = c("class", "response"))

# Types that are tried where the class of a fit is not known.
tried_for_labels <- c("class", "response", NA)
tried_for_probabilities <- c("prob", "probs", "posterior", "probability", "raw", "response", NA)

# The type of predict(), and how what it returns is read: function(value, classes).
way_to_predict <- function(fitted, classes, output, learnt, predict_type) {
  of_labels <- output == "label"
  known <- intersect(class(fitted), names(types_of_classes))
  types <- if (!is.null(predict_type)) predict_type
           else if (length(known)) types_of_classes[[known[1L]]][2L - of_labels]
           else if (of_labels) tried_for_labels
           else tried_for_probabilities
  readers <- if (!of_labels) list(as_probabilities)
             # Whoever names a type may mean that of probabilities, and some have no other.
             else if (length(types) == 1L) list(as_class_labels, labels_of_probabilities)
             else list(as_class_labels)
  value <- NULL
  for (type in types) {
    # The random numbers of ties are for the predictions that count.
    look <- function() with_seed(1L, predicted_as(fitted, learnt$x, type))
    value <- if (length(types) == 1L) look() else tryCatch(look(), error = function(e) NULL)
    for (read in readers) {
      found <- read(value, classes, learnt$y)
      if (is.null(found)) next
      if (!of_labels) refuse_other_probabilities(fitted, found, classes, output, learnt$y)
      return(list(type = type, read = read))
    }
  }
  stop("predict() of a fit of class '", class(fitted)[1L], "' returned ", in_short(value),
       if (of_labels) ", and not the labels " else ", and no probabilities of the classes ",
       paste(classes, collapse = ", "), ": name its type of predict() that does, as in ",
       "r_learner(f, predict_type = \"", if (of_labels) "class" else "prob", "\")",
       listed_in_words(fitted), ", or give a function(x, y, xnew)", call. = FALSE)
}

predicted_as <- function(fitted, data, type)
  if (is.na(type)) predict(fitted, data) else predict(fitted, data, type = type)

in_short <- function(value) {
  if (is.null(value)) return("nothing")
  if (length(dim(value)) == 2L)
    return(paste0("a table of ", ncol(value), " columns (", toString(colnames(value)), ")"))
  if (is.factor(value) || is.character(value))
    return(paste("labels such as", as.character(value)[1L]))
  paste("an object of class", class(value)[1L])
}

listed_in_words <- function(fitted) {
  types <- unlist(lapply(class(fitted), listed_types))
  if (length(types)) paste("; it has", quoted(unique(types)))
}

# Labels as text, NULL where a value has none.
as_class_labels <- function(value, classes, ...) {
  if (is.list(value) && !is.data.frame(value)) value <- or_else(value$class, value$predictions)
  value <- one_column(value)
  if (is.factor(value)) value <- as.character(value)
  if (is.character(value) && all(value %in% c(classes, NA))) value
}

# The probability of the positive class, of several classes a table; NULL where a value has none.
as_probabilities <- function(value, classes, y = NULL) {
  if (is.list(value) && !is.data.frame(value))
    value <- or_else(value$posterior, or_else(value$predictions, value$predicted))
  # A slice for each penalty.
  if (length(dim(value)) == 3L && dim(value)[3L] == 1L)
    value <- array(value, dim(value)[1:2], dimnames(value)[1:2])
  if (length(dim(value)) != 2L || ncol(value) == 1L) {
    value <- one_column(value)
    if (length(classes) == 2L || !is.numeric(value)) return(if (is.numeric(value)) value)
    # Of one row some return a vector.
    if (length(value) != length(classes) || !all(classes %in% names(value))) return(NULL)
    value <- matrix(value, 1L, dimnames = list(NULL, names(value)))
  }
  if (all(classes %in% colnames(value))) of_classes(value, classes)
}

labels_of_probabilities <- function(value, classes, ...) {
  found <- as_probabilities(value, classes)
  if (is.null(found)) return(NULL)
  if (length(classes) == 2L) classes[1L + (found > 0.5)]
  else classes[max.col(replace(found, is.na(found), 0), "first")]
}

# Where it is given what was learnt from, a fit is more often right than wrong.
refuse_other_probabilities <- function(fitted, found, classes, output, y) {
  refuse <- function(...)
    stop("predict() of a fit of class '", class(fitted)[1L], "' returned ", ..., ": name the type of ",
         "predict() that returns probabilities, as in r_learner(f, predict_type = \"prob\")",
         listed_in_words(fitted), ", or give a function(x, y, xnew)", call. = FALSE)
  outside <- range(found, na.rm = TRUE)
  if (output == "probability" && (outside[1L] < -1e-9 || outside[2L] > 1 + 1e-9))
    refuse("values from ", signif(outside[1L], 3L), " to ", signif(outside[2L], 3L),
           ", which are no probabilities")
  if (length(classes) > 2L || length(found) != length(y)) return(invisible())
  positive <- y == classes[2L]
  ranks <- rank(found)
  area <- (mean(ranks[positive]) - (sum(positive) + 1) / 2) / sum(!positive)
  if (isTRUE(area < 0.3))
    refuse("higher values for ", classes[1L], " than for ", classes[2L], " where it is given what it ",
           "learnt from, so they may be of the other class")
}

# Probabilities of several classes, as Python has columns for them.
columns_in_order <- function(table, classes) {
  if (length(dim(table)) != 2L || !setequal(colnames(table), classes))
    stop("it must return a probability of each class for this loss: a matrix with the columns ",
         paste(classes, collapse = ", "), call. = FALSE)
  structure(as.matrix(table)[, classes, drop = FALSE], dimnames = NULL)
}

# Predictions as Python reads them; of `several` classes, or times, a column for each.
predictions_for_python <- function(value, output, times, several) {
  if (length(times) > 1L && is.matrix(value)) value
  else if (length(several) && output %in% c("probability", "score")) columns_in_order(value, several)
  else prediction_vector(value)
}

# Labels as text, numbers as numbers, anything else as it is.
prediction_vector <- function(value) {
  if (is.factor(value) || is.logical(value) && !anyNA(value)) value <- as.character(value)
  if (is.character(value) || is.numeric(value)) as.vector(value) else value
}

one_column <- function(value) {
  if (is.list(value) && !is.data.frame(value)) value <- or_else(value$predictions, value)
  if (length(dim(value)) == 2L && ncol(value) == 1L) as.vector(as.matrix(value)) else value
}

quoted <- function(texts) paste0("\"", texts, "\"", collapse = ", ")

or_else <- function(value, other) if (is.null(value)) other else value

# Numbers on the scale of the response, wherever predict() is on another one by default; checked
# where it is given what was learnt from.
predicted_numbers <- function(fitted, data, output, learnt, predict_type) {
  if (output != "label" && inherits(fitted, "multinom"))
    stop("multinom() learns labels, and y has numbers: make y a factor, as in factor(y) ~ ., or use ",
         "\"lm\" or another regression for amounts", call. = FALSE)
  if (output %in% c("score", "probability")) refuse_regression(fitted, learnt$y)
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

# A function of the user's own may have forgotten the family, or that y is a number.
refuse_regression <- function(fitted, y) {
  of_amounts <- inherits(fitted, "lm") && !is_binomial(fitted$family) ||
    inherits(fitted, "rpart") && identical(fitted$method, "anova")
  if (!of_amounts || length(unique(y)) != 2L) return(invisible())
  stop("its fit of class '", class(fitted)[1L], "' is a regression of amounts, and here ",
       paste(sort(unique(y)), collapse = " and "), " are classes: ",
       if (inherits(fitted, "glm")) "pass family = binomial, or ", "make y a factor; if the regression ",
       "is meant, give a function(x, y, xnew) that returns its predictions", call. = FALSE)
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
  if (inherits(fitted, "glm") && is_binomial(fitted$family)) sort(unique(y))[1L + (value > 0.5)] else value
}

# Models that predict responses, whether or not their predict() has a type.
predicts_responses <- c(
  "lm", "rlm", "lqs", "nls", "loess", "gls", "lme", "rq", "rpart", "tree", "nnet", "ppr", "svm",
  "ranger", "randomForest", "knnreg", "train", "ksvm", "gausspr", "rvm", "xgb.Booster")

# Models whose predict() hands the type on to another function, or is of S4 and lists none.
types_of_response <- c(cv.glmnet = "response", cv.relaxed = "response", ols = "lp",
                       vglm = "response", vgam = "response")

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
      stop("predict() of a fit of class '", class, "' returns '", types[1L], "', which is not a ",
           "response: name the type that is, as in r_learner(f, predict_type = \"",
           c(types[-1L], "response")[1L], "\"); it has ",
           quoted(types), call. = FALSE)
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
