# How learners of other packages learn and predict; read by the Python package too, for R's learners
# in Python. What a name means is function(x, y, xnew, output).

recipe_of <- function(name, arguments) {
  if (is.function(name)) return(plain_function(name, arguments))
  if (grepl("^\\s*(function\\s*\\(|\\\\\\s*\\()", name))
    return(plain_function(eval(parse(text = name), globalenv()), arguments))
  parts <- strsplit(name, "::", fixed = TRUE)[[1L]]
  package <- if (length(parts) > 1L) parts[1L] else recipes[[name]]$package
  if (!is.null(package) && !requireNamespace(package, quietly = TRUE)) {
    meant <- nearest(package, packages_of_recipes())
    stop("R package '", package, "' is not installed: ",
         if (!is.null(meant)) paste0("did you mean \"", meant, "::\"? Otherwise "),
         "run install.packages(\"", package, "\") in R", call. = FALSE)
  }
  fit <- if (is.null(package)) get0(name, globalenv(), mode = "function")
         else get0(parts[length(parts)], asNamespace(package), mode = "function")
  if (is.null(fit)) {
    meant <- if (!is.null(package)) nearest(parts[length(parts)], getNamespaceExports(package))
    stop("R has no function '", name, "': ",
         if (!is.null(meant)) paste0("did you mean \"", package, "::", meant, "\"? Otherwise "),
         "write it as \"package::function\", or give \"function(x, y, xnew) ...\"", call. = FALSE)
  }
  arguments <- named_as_in_r(arguments, fit, parts[length(parts)])
  known <- recipes[[parts[length(parts)]]]
  if (is.null(known) || !identical(package, known$package)) known <- recipe(package)
  taken <- names(formals(known$how))
  if ("predict_type" %in% names(arguments) && !("predict_type" %in% taken && known$typed))
    stop("learner ", name, " takes no predict_type: what it predicts is known", call. = FALSE)
  # One for all fits, of which the first is looked at.
  if (".predictor" %in% taken) arguments$.predictor <- predictor(arguments$predict_type)
  as_numbers <- if (known$numbers) dummy_matrix else identity
  learn <- function(x, y, xnew, output) {
    by_learnt_classes(y, output, function(y, output)
      do.call(known$how, c(list(fit, as_numbers(x), y, as_numbers(xnew), output), arguments)))
  }
  structure(learn, numbers = known$numbers, sparse = known$sparse)
}

# The known name that a typo is nearest to, NULL where none is near; capitals do not count.
nearest <- function(name, known) {
  known <- setdiff(known, name)
  distances <- utils::adist(tolower(name), tolower(known))[1L, ]
  near <- which.min(distances)
  if (!length(near)) return(NULL)
  begins <- nchar(name) > 2L && startsWith(tolower(known[near]), tolower(name))
  if (begins || distances[near] <= nchar(name) %/% 4) known[near]
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
  # The term that each column belongs to.
  term <- c("", attr(terms, "term.labels"))[attr(x, "assign") + 1L]
  kept <- colnames(x) != "(Intercept)"
  x <- x[, kept, drop = FALSE]
  attr(x, "assign") <- attr(x, "contrasts") <- NULL
  structure(x, term = term[kept])
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

# Probabilities from a table with a column for each class: of two classes those of the positive one,
# the last, of more all in their order.
of_classes <- function(table, classes) {
  table <- as.matrix(table)
  if (length(classes) == 2L) table[, classes[2L]] else table[, classes, drop = FALSE]
}

# Of three classes or more, `predicted` gets those that the learning set has: packages refuse classes
# without an observation, or have no column for them. Scores rank class by class, which
# probabilities do as well.
by_learnt_classes <- function(y, output, predicted) {
  classes <- levels(y)
  if (length(classes) <= 2L) return(predicted(y, output))
  y <- droplevels(y)
  if (output == "score") output <- "probability"
  found <- predicted(y, output)
  if (output == "probability") with_absent_classes(found, classes, levels(y)) else found
}

# Several classes of which a learning set has some: the others get a probability of zero.
with_absent_classes <- function(probabilities, classes, learnt) {
  absent <- setdiff(classes, learnt)
  if (!length(absent)) return(probabilities)
  if (length(learnt) == 2L)
    probabilities <- structure(cbind(1 - probabilities, probabilities), dimnames = list(NULL, learnt))
  zeros <- matrix(0, nrow(probabilities), length(absent), dimnames = list(NULL, absent))
  cbind(probabilities, zeros)[, classes, drop = FALSE]
}

# With s alone the fit is for this penalty only. A label is the second where the log-odds exceed
# rounding error, so that a fit without features predicts the first class where the classes are
# tied.
fit_glmnet <- function(fit, x, y, xnew, output, s = NULL, lambda = s, family = NULL, ...) {
  if (is.null(lambda))
    stop("glmnet needs the penalty to predict with: give s = 0.08, for example, or use cv.glmnet, ",
         "which chooses one", call. = FALSE)
  fitted <- fit(as_plain_matrix(x), y, family = family_of(y, family), lambda = lambda, ...)
  glmnet_predictions(fitted, x, y, xnew, output, if (is.null(s)) lambda[length(lambda)] else s)
}

# The penalty is chosen inside, by the random folds of the fit's own seed.
fit_cv_glmnet <- function(fit, x, y, xnew, output, s = "lambda.1se", family = NULL,
                          predict_type = "response", ...)
  glmnet_predictions(fit(as_plain_matrix(x), y, family = family_of(y, family), ...), x, y, xnew,
                     output, s, predict_type)

as_plain_matrix <- function(x) if (is.data.frame(x)) as.matrix(x) else x

family_of <- function(y, family) {
  if (!is.null(family)) return(family)
  if (inherits(y, "Surv")) "cox"
  else if (!is.factor(y)) "gaussian"
  else if (nlevels(y) > 2L) "multinomial"
  else "binomial"
}

glmnet_predictions <- function(fitted, x, y, xnew, output, s, type = "response") {
  xnew <- as_plain_matrix(xnew)
  predicted <- function(type) predict(fitted, xnew, s = s, type = type)
  if (inherits(y, "Surv"))
    return(predicted_survival(fitted, xnew, output, list(x = as_plain_matrix(x), y = y), s = s))
  if (!is.factor(y)) return(predicted(type)[, 1L])
  if (nlevels(y) > 2L) {
    if (output == "label") return(predicted("class")[, 1L])
    found <- predicted("response")
    return(matrix(found, nrow(xnew), dimnames = list(NULL, dimnames(found)[[2L]]))[, levels(y)])
  }
  switch(output,
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
  if (probability) of_classes(predictions, levels(y)) else predictions
}

fit_svm <- function(fit, x, y, xnew, output, ...) {
  probability <- output %in% c("probability", "number") && is.factor(y)
  fitted <- fit(x, y, probability = probability, ...)
  predictions <- predict(fitted, xnew, probability = probability,
                         decision.values = output == "score")
  if (probability) return(of_classes(attr(predictions, "probabilities"), levels(y)))
  if (!is.factor(y) || output != "score") return(predictions)
  values <- attr(predictions, "decision.values")
  # The name of the column says which class is on the positive side.
  if (startsWith(colnames(values)[1L], paste0(levels(y)[2L], "/"))) values[, 1L]
  else -values[, 1L]
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
  classes <- levels(y)
  if (is.factor(y) && output != "label") levels(y) <- make.names(classes)
  fitted <- fit(x, y, trControl = trControl, tuneGrid = tuneGrid, ...)
  if (!is.factor(y) || output == "label") return(predict(fitted, xnew))
  table <- as.matrix(predict(fitted, xnew, type = "prob"))[, levels(y), drop = FALSE]
  colnames(table) <- classes
  of_classes(table, classes)
}

# Any other function that is called as f(x, y, ...) or f(formula, data, ...) and has a predict()
# method.
any_fit <- function(fit, x, y, xnew, output, predict_type = NULL,
                    .predictor = predictor(predict_type), ...) {
  if (takes_formula(names(formals(args(fit)))))
    return(fit_by_formula(fit, x, y, xnew, output, predict_type, .predictor, ...))
  .predictor(fit(x, y, ...), xnew, levels(y), output, learnt = list(x = x, y = y))
}

fit_by_formula <- function(fit, x, y, xnew, output, predict_type = NULL,
                           .predictor = predictor(predict_type), ...) {
  data <- as.data.frame(x)
  # In this environment, where coxph() looks again for what it learnt from.
  formula <- all_columns(data, ".response")
  environment(formula) <- environment()
  data$.response <- y
  if (is_rfsrc(fit)) list2env(with_time_and_status(formula, data), environment())
  fitted <- do.call(fit, c(list(formula, data = quote(data)),
                           completed(list(...), fit, is.factor(y), nlevels(y))))
  .predictor(fitted, as.data.frame(xnew), levels(y), output, learnt = list(x = data, y = y))
}

# Arguments without which a function does not learn labels, or prints what it does.
completed <- function(arguments, fit, of_labels, n_classes) {
  is_one_of <- function(names, package) is_function_of(fit, names, package)
  if (is_one_of(c("nnet", "multinom"), "nnet") && is.null(arguments$trace)) arguments$trace <- FALSE
  # Without it a network returns numbers from 0 to 1 alone.
  kinds <- c("linout", "entropy", "softmax", "censored")
  if (!of_labels && is_one_of("nnet", "nnet") && !any(kinds %in% names(arguments)))
    arguments$linout <- TRUE
  if (of_labels && is_one_of("lm", "stats"))
    stop("lm() learns numbers, and y has labels: use \"glm\" or another classifier", call. = FALSE)
  binomial <- is_one_of("glm", "stats") || is_one_of(c("gam", "bam"), "mgcv")
  if (!of_labels || !binomial || !is.null(arguments$family)) return(arguments)
  # Of more classes it would tell the first one from all others.
  if (n_classes > 2L)
    stop("a binomial family has two classes, and y has ", n_classes,
         ": use \"multinom\", or merge classes", call. = FALSE)
  arguments$family <- stats::binomial()
  arguments
}

is_function_of <- function(f, names, package)
  package %in% loadedNamespaces() &&
    any(vapply(names, function(name) identical(f, getExportedValue(package, name)), NA))

is_binomial <- function(family) {
  if (inherits(family, "family")) family <- family$family
  of_two <- list("binomial", "quasibinomial", stats::binomial, stats::quasibinomial)
  any(vapply(of_two, identical, NA, family))
}

# Written out, as not every package knows "y ~ .".
all_columns <- function(data, response)
  stats::reformulate(paste0("`", names(data), "`"), response)

takes_formula <- function(names)
  all(c("formula", "data") %in% names) && names[1L] == "formula"

is_rfsrc <- function(fit) is_function_of(fit, "rfsrc", "randomForestSRC")

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

# A line of the table: the package of the fitting function, and how its learner learns and predicts.
# `numbers` says that the function takes a matrix, or makes integer codes of factors itself, `sparse`
# that it takes sparse ones, `amounts` that numbers are amounts for it and never labels, 0 and 1
# included, and `typed` that predict() has a type.
recipe <- function(package, how = any_fit, numbers = FALSE, sparse = FALSE, amounts = FALSE,
                   typed = TRUE)
  list(package = package, how = how, numbers = numbers, sparse = sparse, amounts = amounts,
       typed = typed)

# Functions that are known without their package.
recipes <- list(
  bam = recipe("mgcv", amounts = TRUE),
  coxph = recipe("survival"),
  cv.glmnet = recipe("glmnet", fit_cv_glmnet, numbers = TRUE, sparse = TRUE),
  gam = recipe("mgcv", amounts = TRUE),
  glm = recipe("stats", amounts = TRUE),
  glmnet = recipe("glmnet", fit_glmnet, numbers = TRUE, sparse = TRUE),
  knn3 = recipe("caret", numbers = TRUE),
  lda = recipe("MASS", numbers = TRUE, typed = FALSE),
  lm = recipe("stats", amounts = TRUE),
  multinom = recipe("nnet", amounts = TRUE),
  naiveBayes = recipe("e1071"),
  nnet = recipe("nnet", fit_by_formula),
  polr = recipe("MASS", amounts = TRUE),
  qda = recipe("MASS", numbers = TRUE, typed = FALSE),
  randomForest = recipe("randomForest"),
  ranger = recipe("ranger", fit_ranger, sparse = TRUE),
  rfsrc = recipe("randomForestSRC", amounts = TRUE),
  rpart = recipe("rpart", amounts = TRUE),
  svm = recipe("e1071", fit_svm, numbers = TRUE),
  train = recipe("caret", fit_train),
  xgboost = recipe("xgboost", numbers = TRUE, sparse = TRUE))

packages_of_recipes <- function() vapply(recipes, `[[`, "", "package")

# The random numbers of a fit follow from its seed, and those of the session go on as if nothing
# had happened.
with_seed <- function(seed, expression) {
  before <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(before)) rm(".Random.seed", envir = globalenv())
          else assign(".Random.seed", before, envir = globalenv()))
  set.seed(seed, kind = "default", normal.kind = "default", sample.kind = "default")
  expression
}
