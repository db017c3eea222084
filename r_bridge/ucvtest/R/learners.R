# R functions as learners. Python tells them which rows learn and which are tested; so x and y
# are handed over as the user gave them, factors and data frames included.

r_learner <- function(f, ..., name = NULL, predict_type = NULL) {
  refuse_lacking(f = "a function, or the name of one, such as \"ranger\" or \"MASS::lda\"")
  if (!is.function(f) && !is_text(f))
    stop_user("'f' must be a function, or the name of one, such as \"ranger\" or \"MASS::lda\", ",
              "got ", describe(f))
  arguments <- list(...)
  if (length(arguments) && (is.null(names(arguments)) || !all(nzchar(names(arguments)))))
    stop_user("arguments of the learner must have names, such as r_learner(\"ranger\", ",
              "num.trees = 100)")
  if (!is.null(predict_type)) {
    if (!is_text(predict_type))
      stop_user("'predict_type' must be a type of predict() of the fit, such as \"response\", got ",
                describe(predict_type))
    arguments$predict_type <- predict_type
  }
  if (is.null(name)) {
    name <- if (is.character(f)) f else function_name(substitute(f))
    is_short <- function(value) is.atomic(value) || inherits(value, "formula")
    short <- vapply(arguments, function(value) if (is_short(value)) deparse1(value) else "...", "")
    if (length(short))
      name <- paste0(name, "(", paste(names(short), "=", short, collapse = ", "), ")")
  }
  structure(list(f = f, arguments = arguments, name = name), class = "ucvtest_r_learner")
}

print.ucvtest_r_learner <- function(x, ...) {
  cat("R learner ", x$name, "\n", sep = "")
  invisible(x)
}

# What Python needs for a learner: its short name, or its R function and how to write it.
as_learner <- function(learner, argument, expression, sample) {
  if (is_text(learner)) {
    # Names with a package, and those of packages that this one knows, are R's.
    if (!grepl("::", learner, fixed = TRUE) && is.null(recipes[[learner]]) ||
        learner %in% jitted_too) return(jitted_learner(learner, sample))
    learner <- r_learner(learner)
  }
  if (!is.null(.session$workers))
    .session$workers$share(globals_of(learner, sample$source$formula, sample$source$smooths))
  if (is.function(learner)) learner <- or_else(by_known_name(learner, expression), learner)
  if (inherits(learner, "ucvtest_r_learner")) return(in_session(
    learner$name, learn_function(learner$f, learner$arguments, argument, sample), sample))
  if (inherits(learner, c("model_spec", "workflow")))
    return(in_session(class(learner)[1L], parsnip_learner(learner, sample), sample))
  if (inherits(learner, "Learner") && is.environment(learner))
    return(in_session(learner$id, mlr3_learner(learner, sample), sample))
  if (!is.function(learner))
    stop_user("'", argument, "' must be the name of a learner, such as \"lda\" or ",
              "\"lasso:0.08\", or a function(x, y, xnew), got ", describe(learner),
              if (is.object(learner) && is.list(learner) && !is.data.frame(learner))
                paste0(": a learner is fitted to every learning set, so instead of a fit give ",
                       refitting(learner))
              else if (argument == "learner" && length(learner) > 1L)
                ": the one to compare with goes into 'other'")
  in_session(function_name(expression), learn_function(learner, list(), argument, sample), sample)
}

# How what a fit was made by is written as a learner.
refitting <- function(fit) {
  if (!inherits(fit, "train")) return("\"glm\", \"MASS::lda\" or a function that fits and predicts")
  paste0("function(x, y, xnew) predict(caret::train(x, y, method = \"", fit$method, "\"), xnew)")
}

# Functions that have a recipe, as randomForest::randomForest instead of its name.
by_known_name <- function(f, expression) {
  for (name in names(recipes)) {
    package <- recipes[[name]]$package
    if (package %in% loadedNamespaces() && identical(f, get0(name, asNamespace(package))))
      return(r_learner(paste0(package, "::", name), name = function_name(expression)))
  }
  NULL
}

# The message about an unknown learner, with the name of R's that is nearer than those of Python.
with_nearest_learner <- function(message) {
  said <- "learner '([^':]*)[^']*' is unknown: (did you mean '([^']*)'[?])?"
  parts <- regmatches(message, regexec(said, message))[[1L]]
  if (!length(parts)) return(message)
  meant <- nearest(parts[2L], names(recipes))
  far <- function(name) utils::adist(tolower(parts[2L]), tolower(name))[1L]
  if (is.null(meant) || nzchar(parts[4L]) && far(parts[4L]) <= far(meant)) return(message)
  advice <- paste0("is unknown: did you mean \"", meant, "\"?",
                   if (!nzchar(parts[4L])) " Otherwise ")
  sub("is unknown: (did you mean '[^']*'[?])?", advice, message)
}

# Names that stand for a learner of this package unless "MASS::lda" is written out.
jitted_too <- c("lda", "qda", "svm")

jitted_learner <- function(name, sample) {
  if (!is.null(sample$weights))
    stop_user("learner ", name, " takes no weights: give an R function(x, y, xnew, weights)")
  refuse_gaps(sample, name)
  name
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

# How a function learns: function(learning, testing, y, output), with row numbers and the response
# of all rows.
learn_function <- function(f, arguments, argument, sample) {
  refuse_values_by_level(arguments, sample)
  if (is.function(f)) f <- or_else(by_known_name(f, quote(f))$f, f)
  if (is.character(f)) {
    of_formula <- formula_function(f)
    if (!is.null(of_formula)) return(by_formula(of_formula, arguments, sample))
    refuse_weights(sample, f)
    if (inherits(arguments$formula, "formula"))
      stop_user("the learner ", f, " takes columns, and no formula of its own: give a ",
                "function(formula, data) that returns a fit")
    return(by_name(recipe_of(f, arguments), sample))
  }
  names <- names(formals(args(f)))
  if (takes_formula(names)) return(by_formula(f, arguments, sample))
  refuse_fitting_function(f, names, argument)
  if (!is.null(arguments$predict_type))
    stop_user("'predict_type' is about functions that return a fit, and this function(x, y, xnew) ",
              "returns the predictions itself")
  weighted <- "weights" %in% names
  if (!weighted) refuse_weights(sample, "that is this function")
  features <- sample$features
  weights <- if (weighted) sample$weights
  # R says that "$" is invalid, and not that the function sees a matrix.
  by_column <- is.matrix(features) && "$" %in% all.names(body(f))
  learn <- function(learning, testing, y, output)
    tryCatch(
      do.call(f, c(list(features[learning, , drop = FALSE], y[learning],
                        features[testing, , drop = FALSE]),
                   if (!is.null(weights)) list(weights = weights[learning]), arguments)),
      error = function(condition) {
        if (by_column)
          stop(conditionMessage(condition), ": x and xnew are matrices, so write xnew[, \"",
               or_else(colnames(features), "a")[1L], "\"] for a column, or give a ",
               "function(formula, data) that returns a fit", call. = FALSE)
        stop(condition)
      })
  structure(learn, plain = TRUE)
}

# The function of a name such as "rpart::rpart", if a formula is all that it takes.
formula_function <- function(name) {
  if (!is.null(recipes[[name]])) name <- paste0(recipes[[name]]$package, "::", name)
  parts <- strsplit(name, "::", fixed = TRUE)[[1L]]
  if (length(parts) != 2L || !identical(or_else(recipes[[parts[2L]]]$how, any_fit), any_fit) ||
      !requireNamespace(parts[1L], quietly = TRUE)) return(NULL)
  found <- get0(parts[2L], asNamespace(parts[1L]), mode = "function")
  if (!is.null(found) && takes_formula(names(formals(args(found))))) found
}

refuse_weights <- function(sample, name) {
  if (!is.null(sample$weights))
    stop_user("the learner ", name, " takes no weights: give a function(x, y, xnew, weights), or ",
              "function(formula, data, weights)")
}

refuse_survival <- function(sample, name) {
  if (is_survival(sample$response))
    stop_user("the learner ", name, " is not known to learn survival times: give a ",
              "function(x, y, xnew) that fits it and returns risks")
}

# A function that fits, such as lda, would fail at its third argument with a message of its own.
refuse_fitting_function <- function(f, names, argument) {
  takes_three <- length(setdiff(names, "...")) >= 3L &&
    identical(formals(args(f))[[3L]], quote(expr = ))
  if (takes_three || identical(names[1L], "...")) return(invisible())
  stop_user("'", argument, "' is a function(", paste(names, collapse = ", "), "), and a learner is a ",
            "function(x, y, xnew) that returns predictions, or a function(formula, data) that ",
            "returns a fit: for lda write \"MASS::lda\", or function(x, y, xnew) ",
            "predict(MASS::lda(x, y), xnew)$class")
}

# Learners of other packages by name take the response as a factor with the positive class last, and
# survival times as they are.
by_name <- function(learn, sample) {
  # A formula of single columns is one table of them, factors included.
  columns <- if (!isTRUE(attr(learn, "numbers")) && isTRUE(sample$source$single))
    sample$source$columns
  features <- plain_features(or_else(columns, sample$features), isTRUE(attr(learn, "sparse")))
  survival <- is_survival(sample$response)
  classes <- if (!survival) classes_of(sample)
  by_labels <- function(learning, testing, y, output) {
    told <- if (survival || output == "number" && is.numeric(y)) y
            else factor(as.character(y), classes)
    value <- learn(features[learning, , drop = FALSE], told[learning],
                   features[testing, , drop = FALSE], output)
    if (output == "label" && is.numeric(y)) as.numeric(as.character(value)) else value
  }
  structure(by_labels, plain = attr(learn, "plain"))
}

# As packages take them: text as factors, with the levels of all rows, and names of columns.
plain_features <- function(x, sparse) {
  if (is.data.frame(x)) return(with_factors(as.data.frame(x)))
  if (!sparse) x <- dense(x)
  if (is.null(colnames(x))) colnames(x) <- paste0("V", seq_len(ncol(x)))
  x
}

# Arguments whose values belong to the classes by the order of their levels, whatever their names.
by_level <- c("prior", "cutoff", "classwt", "class.weights", "class_weights", "sampsize", "parms")

# The positive class comes last for learners, so values in another order would be of the other class.
refuse_values_by_level <- function(arguments, sample) {
  used <- intersect(by_level, names(arguments))
  # Those of svm() go by their names.
  used <- Filter(function(name) name != "class.weights" || is.null(names(arguments[[name]])), used)
  if (!length(used) || is.null(sample$labels) || identical(classes_of(sample), sample$labels))
    return(invisible())
  ordered <- quoted(classes_of(sample))
  stop_user("'", used[1L], "' goes by the order of the levels, of which the positive one is last: give ",
            "the response as factor(y, c(", ordered, ")), and '", used[1L], "' in this order")
}

# The classes in the order of the levels, of two the positive one last.
classes_of <- function(sample) {
  classes <- or_else(sample$labels, as.character(sort(unique(sample$y))))
  if (length(classes) > 2L) return(classes)
  positive <- as.character(sample$pos_label)
  c(setdiff(classes, positive), positive)
}

# A function(formula, data) sees the data frame and its factors, and returns a fit.
by_formula <- function(f, arguments, sample) {
  if (!is.null(sample$weights) && !"weights" %in% names(formals(args(f))))
    refuse_weights(sample, "that is this function(formula, data)")
  predict_type <- arguments$predict_type
  arguments$predict_type <- NULL
  sample <- with_formula(sample, arguments$formula)
  arguments$formula <- NULL
  if (!is_survival(sample$response)) {
    of_labels <- !is.numeric(sample$response)
    arguments <- completed(arguments, f, of_labels, if (of_labels) length(classes_of(sample)))
  }
  # gam() and functions of the user's own read terms such as s(age), which others do not know.
  reads_smooths <- !of_package(environment(f)) || environmentName(environment(f)) == "mgcv"
  if (reads_smooths && !is.null(sample$source$smooths))
    sample$source$formula <- sample$source$smooths
  # Functions of packages make factors of text themselves, but of the rows that they are given.
  if (of_package(environment(f)) && is.data.frame(sample$source$data))
    sample$source$data <- with_factors(sample$source$data)
  learn <- with_data(sample, predicted = predictor(predict_type), fit = function(formula, data) {
    if (is_rfsrc(f)) list2env(with_time_and_status(formula, data), environment())
    call <- as.call(c(list(f, quote(formula), data = quote(data)), arguments,
                      if (!is.null(sample$weights)) list(weights = quote(.weights))))
    # Functions such as glm() look for the weights where the formula does, others are given them.
    eval(call, list(formula = formula, data = data), environment(formula))
  })
  structure(learn, as_classes = if (takes_amounts(f, arguments)) paste0(
    if (is_function_of(f, "lm", "stats")) "use \"glm\" and ", factor_to_type(sample)))
}

# A learner with a formula of its own learns the same response from other columns of the same rows.
with_formula <- function(sample, formula) {
  if (is.null(formula)) return(sample)
  if (!inherits(formula, "formula"))
    stop_user("'formula' of a learner must be a formula, such as response ~ age, got ",
              describe(formula))
  source <- sample$source
  if (is.null(source$formula))
    stop_user("a learner with a formula needs the data that it names: give the test a formula and ",
              "the data, as in  hold_out_test(response ~ ., data, learner)")
  if (length(formula) == 3L && !identical(formula[[2L]], source$written_response))
    stop_user("the formula of a learner has the response ", deparse1(formula[[2L]]),
              ", and that of the test has ", deparse1(source$written_response),
              ": write the same in both")
  if (length(formula) == 2L)
    formula <- stats::as.formula(call("~", source$written_response, formula[[2L]]),
                                 environment(formula))
  found <- tryCatch({
    formula <- stats::formula(terms(formula, data = if (is.data.frame(source$given)) source$given))
    stats::get_all_vars(formula, source$given)
  }, error = function(condition)
    stop_user("the formula of a learner does not fit the data: ", conditionMessage(condition)))
  formula[[2L]] <- as.name(source$response)
  sample$source$formula <- formula
  sample$source$smooths <- NULL
  sample$source$data <- droplevels(found[source$rows, , drop = FALSE])
  sample
}

# Whether a known function takes numbers for amounts, 0 and 1 included.
takes_amounts <- function(f, arguments) {
  known <- Filter(function(recipe) recipe$amounts, recipes)
  any(mapply(is_function_of, names(known), lapply(known, `[[`, "package"), MoreArgs = list(f = f))) &&
    !is_binomial(arguments$family)
}

factor_to_type <- function(sample) paste("make y a factor:", sample$as_factor)

parsnip_learner <- function(spec, sample) {
  refuse_weights(sample, class(spec)[1L])
  refuse_survival(sample, class(spec)[1L])
  if (inherits(spec, "workflow") && is.null(sample$source))
    stop_user("a workflow names the columns that it learns from and the response: give a formula ",
              "and the data, as in  hold_out_test(response ~ ., data, workflow)")
  learn <- with_data(sample, predicted = parsnip_predictions, function(formula, data) {
    if (inherits(spec, "workflow")) fit(spec, data = data) else fit(spec, formula, data = data)
  })
  structure(learn, as_classes = factor_to_type(sample))
}

# By the documented methods of mlr3: the learner that was given stays as it is.
mlr3_learner <- function(learner, sample) {
  refuse_weights(sample, learner$id)
  refuse_survival(sample, learner$id)
  # No package that is suggested: whoever has the learner has it.
  package <- "mlr3"
  classes <- if (!is.numeric(sample$response)) classes_of(sample)
  as_task <- getExportedValue(package, if (is.null(classes)) "as_task_regr" else "as_task_classif")
  source <- formula_and_data(sample)
  # A task has no formula: all its other columns are features.
  features <- source$data[intersect(names(source$data), all.vars(source$formula[[3L]]))]
  learn <- function(learning, testing, y, output) {
    data <- features
    data[[source$response]] <- if (is.null(classes)) y else factor(as.character(y), classes)
    task <- as_task(data, target = source$response)
    own <- learner$clone(deep = TRUE)
    own$train(task, row_ids = learning)
    found <- own$predict(task, row_ids = testing)
    if (is.null(classes) || output == "label") return(found$response)
    table <- as.data.frame(found$prob, optional = TRUE)
    if (length(classes) > 2L && all(classes %in% names(table))) return(of_classes(table, classes))
    probability(table, classes[length(classes)], "predict_type = \"prob\" of the learner")
  }
  structure(learn, as_classes = factor_to_type(sample))
}

# `fit` gets a formula and the rows that are learnt from.
with_data <- function(sample, fit, predicted = predictor()) {
  force(predicted)
  source <- formula_and_data(sample)
  classes <- if (!is.numeric(sample$response)) classes_of(sample)
  weights <- sample$weights
  function(learning, testing, y, output) {
    data <- source$data
    data[[source$response]] <- if (is.null(classes)) y else factor(as.character(y), classes)
    # Beside the data, where "." in a formula does not find them.
    formula <- source$formula
    environment(formula) <- new.env(parent = environment(formula))
    if (!is.null(weights))
      list2env(list(.weights = weights[learning], weights = weights[learning]),
               environment(formula))
    known <- data[learning, , drop = FALSE]
    # Where coxph() looks again for what it learnt from, to predict at a time.
    if (is_survival(y)) list2env(list(formula = formula, data = known), environment(formula))
    by_learnt_classes(known[[source$response]], output, function(y, output) {
      known[[source$response]] <- y
      predicted(fit(formula, known), data[testing, , drop = FALSE], levels(y), output,
                learnt = list(x = known, y = y))
    })
  }
}

# Those of the user's formula; without one, all columns of x.
formula_and_data <- function(sample) {
  if (!is.null(sample$source$formula)) return(sample$source)
  data <- as.data.frame(dense(sample$features))
  response <- if ("y" %in% names(data)) ".response" else "y"
  formula <- all_columns(data, response)
  environment(formula) <- globalenv()
  list(formula = formula, data = data, response = response)
}

dense <- function(x) if (inherits(x, "sparseMatrix")) as.matrix(x) else x

# The names of columns are documented for every model of parsnip.
parsnip_predictions <- function(fitted, data, classes, output, learnt) {
  if (is.null(classes)) return(predict(fitted, new_data = data)$.pred)
  if (output == "label") return(predict(fitted, new_data = data, type = "class")$.pred_class)
  table <- as.data.frame(predict(fitted, new_data = data, type = "prob"))
  names(table) <- sub("^\\.pred_", "", names(table))
  of_classes(table, classes)
}

# The learner as Python calls it: each fit with the random numbers of its own seed.
in_session <- function(name, learn, sample) {
  # What is refused is refused now, and not at the first fit.
  force(learn)
  y <- sample$response
  several <- several_classes(sample)
  one_fit <- function(learning, testing, other, output, seed, times = NULL) {
    # A test may have exchanged the responses, to see what chance does.
    if (!is.null(other)) y <- like_response(other, y)
    # A worker takes rows of them by the methods of that package alone.
    if (is_survival(y)) loadNamespace("survival")
    value <- with_seed(seed, learn(learning, testing, y, structure(output, times = times)))
    value <- predictions_for_python(value, output, times, several)
    if (output == "label" && is.numeric(y)) as_numeric_labels(value, y, sample$as_factor) else value
  }
  # What a function of the user's own returns may be about either class.
  asks <- isTRUE(attr(learn, "plain")) && !sample$named
  as_classes <- if (is.numeric(y)) attr(learn, "as_classes")
  c(list(name = name, predict = guarded(one_fit)), if (asks) list(asks = TRUE),
    if (!is.null(as_classes)) list(as_classes = as_classes),
    if (!is.null(.session$workers)) list(many = guarded(shared_out(one_fit))))
}

# Three classes or more, in the order in which Python has columns for them, one that the user names
# last; none of two.
several_classes <- function(sample) {
  if (is_survival(sample$response)) return(NULL)
  classes <- if (is.null(sample$labels)) sort(unique(sample$y))
             else sort(sample$labels, method = "radix")
  if (length(classes) <= 2L) return(NULL)
  positive <- as.character(sample$pos_label)
  c(setdiff(as.character(classes), positive), positive)
}

# Functions that classify return a factor of labels that are numbers. Many others take numbers such
# as 0 and 1 for amounts.
as_numeric_labels <- function(predictions, labels, as_factor) {
  if (is.character(predictions) && all(predictions %in% as.character(labels)))
    return(as.numeric(predictions))
  strange <- setdiff(predictions, labels)
  if (!is.numeric(predictions) || !length(strange) || anyNA(predictions)) return(predictions)
  shown <- function(values)
    toString(c(signif(utils::head(values, 5L), 4L), if (length(values) > 5L) "..."))
  stop("it returned ", shown(strange), ", but the labels are ", shown(sort(unique(labels))),
       ": it takes these numbers for amounts, so make y a factor: ", as_factor,
       "; a function(x, y, xnew) may also return labels as in y itself", call. = FALSE)
}

# Losses see labels as the user wrote them.
as_loss <- function(loss, y) {
  if (is.matrix(loss)) return(as_costs(loss, y))
  if (is_text(loss) && loss %in% c("MAE", "Accuracy", "ROC", "logLoss")) return(caret_names[[loss]])
  square <- is_text(loss) && tolower(loss) == "rmse"
  if (square || is_text(loss) && loss %in% names(c(yardstick_names, caret_names)))
    stop_user("'loss' is \"", loss, "\", which is not a mean over observations: write metric = \"",
              if (square) "rmse" else loss, "\" in tests that take metrics, see ?metrics",
              if (square) ", or loss = \"squared\" for its square")
  if (!is.function(loss)) return(loss)
  taken <- names(formals(args(loss)))
  if (length(taken) < 2L && !"..." %in% taken)
    stop_user("'loss' must be function(y, prediction), got a function of ", length(taken),
              if (length(taken) == 1L) " argument" else " arguments")
  guarded(function(truth, prediction)
    as.numeric(loss(like_response(truth, y), like_response(prediction, y))))
}

# The name of a score of scikit-learn, or a function of labels or numbers that returns the score of a
# test set, and what it is called.
as_scoring <- function(scoring, y, expression) {
  if (is.null(scoring) || is.character(scoring)) return(scoring)
  if (!is.function(scoring))
    stop_user("'scoring' must be the name of a score, such as \"f1\", or a function(truth, ",
              "prediction) that returns the score of a test set, got ", describe(scoring))
  name <- function_name(expression)
  list(if (identical(name, "R function")) "score" else name,
       guarded(function(truth, prediction)
         as.numeric(scoring(like_response(truth, y), like_response(prediction, y)))))
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
