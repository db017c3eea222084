# Losses that every test takes in the place of features and response.

prediction_losses <- function(y, predictions, loss = NULL, groups = NULL, positive = NULL,
                              weights = NULL, pos_label = NULL, fold = NULL, metric = NULL) {
  refuse_lacking(y = "the response, or NULL with loss = \"score\"",
                 predictions = "a column for each rule, such as data.frame(a = , b = )")
  losses_of_rules(y, predictions, paste("predictions of", deparse1(substitute(y))), loss, groups,
                  as_positive(positive, pos_label), weights, fold = fold, metric = metric)
}

losses_of_rules <- function(y, predictions, name, loss = NULL, groups = NULL, positive = NULL,
                            weights = NULL, remarks = NULL, fold = NULL, metric = NULL) {
  refuse_other_rows(c(list(y = y), rows_by_name(predictions, "predictions"),
                      list(groups = groups, weights = weights, fold = fold)),
                    numbered = c("y", "predictions"))
  predictions <- named_columns(predictions, "predictions")
  if (is_survival(y) && !is.null(metric))
    return(losses_of_times(y, predictions, name, loss, metric, groups, positive, weights, fold))
  answer <- if (!identical(loss, "score")) response(y, positive)
  found_loss <- loss_of(loss, metric, y, answer)
  loss <- found_loss$name
  predictions <- as_scores(predictions, loss)
  refuse_missing_in(predictions, "predictions")
  tables <- vapply(predictions, function(each) length(dim(each)) == 2L && ncol(each) > 1L, NA)
  if (!identical(loss, "score") && !is_of_labels(loss)) {
    if (!all(tables))
      refuse_unnamed_class(answer, loss, paste0("'predictions$", names(predictions)[!tables][1L],
                                                "' contains"))
    if (any(tables) && (!is.null(answer$labels) || of_probabilities(loss))) {
      # Python writes whole numbers that are doubles with a fraction, 1.0.
      if (is.null(answer$labels) && all(answer$values == round(answer$values)) &&
          all(abs(answer$values) <= .Machine$integer.max))
        answer$values <- as.integer(answer$values)
      classes <- or_else(answer$labels, as.character(sort(unique(answer$values))))
      unnamed <- any(vapply(predictions[tables], function(each) is.null(colnames(each)), NA))
      if (unnamed)
        remarks <- in_one(remarks, in_order_of_levels("Columns without names", classes))
      predictions[tables] <- lapply(predictions[tables], columns_of_classes, classes)
    }
  }
  refuse_logical(predictions, answer, loss)
  refuse_text(predictions, answer, loss)
  if (is_of_labels(loss)) refuse_numbers(predictions, y, answer)
  n_obs <- if (is.list(predictions[[1L]])) length(predictions[[1L]][[1L]])
           else length(predictions[[1L]])
  # A loss has the same positive class by both arguments.
  about <- if (!is.null(metric) && !loss %in% known_losses) metric
  fields <- call_python("Losses.from_predictions", y = with_order(answer$values, y, metric),
                        predictions = lapply(predictions, prediction_vector),
                        pos_label = positive_of(answer, about),
                        groups = as_labels(groups, n_obs, "groups"),
                        sample_weight = as_weights(weights, n_obs),
                        fold = as_labels(fold, n_obs, "fold"),
                        remarks = in_one(remarks, remark_on_costs(found_loss$asked)),
                        .more = found_loss$asked)
  new_losses(fields, name, answer$labels)
}

# Sentences as one text, NULL where there are none.
in_one <- function(...) if (length(c(...))) paste(c(...), collapse = " ")

# Risks of survival times: a column for each rule, or in a list a matrix with a column for each time.
losses_of_times <- function(y, predictions, name, loss, metric, groups, positive, weights, fold) {
  times <- survival_times(y)
  n_obs <- length(times$time)
  predictions <- as_scores(predictions, metric)
  if (!is.null(weights)) stop_user("'weights' does not apply with survival times: leave it out")
  refuse_missing_in(predictions, "predictions")
  risks <- lapply(predictions, function(each) {
    if (NCOL(each) < 2L) return(prediction_vector(each))
    columns <- lapply(as.data.frame(each), as.vector)
    if (is.null(colnames(each))) unname(columns) else columns
  })
  fields <- call_python("Losses.from_predictions", y = times, predictions = risks,
                        loss = loss, metric = as_metric(metric, NULL), pos_label = positive,
                        groups = as_labels(groups, n_obs, "groups"),
                        fold = as_labels(fold, n_obs, "fold"))
  new_losses(fields, name)
}

correct_losses <- function(correct, groups = NULL) {
  refuse_lacking(correct = "a column for each model, such as data.frame(a = , b = )")
  name <- paste("answers of", deparse1(substitute(correct)))
  refuse_other_rows(c(rows_by_name(correct, "correct"), list(groups = groups)))
  correct <- named_columns(correct, "correct")
  refuse_missing_in(correct, "correct", "count them as wrong (FALSE)")
  # Files have them as text.
  marks <- lapply(correct, function(each) {
    if (all(as.character(each) %in% c("FALSE", "TRUE"))) as.numeric(as.logical(as.character(each)))
    else prediction_vector(each)
  })
  groups <- as_labels(groups, length(correct[[1L]]), "groups")
  fields <- call_python("Losses.from_correct", correct = marks, groups = groups)
  new_losses(fields, name)
}

# What p > 0.5 gives is no label of a response that has others, and no number.
refuse_logical <- function(predictions, answer, loss) {
  column <- names(predictions)[vapply(predictions, is.logical, NA)][1L]
  labels <- if (is_of_labels(loss)) or_else(answer$labels, sort(unique(answer$values)))
  if (is.na(column) || length(labels) && all(labels %in% c("FALSE", "TRUE"))) return(invisible())
  of_numbers <- is.null(labels) ||
    is.null(answer$labels) && (length(labels) != 2L || all(labels %in% 0:1))
  stop_user("column '", column, "' of 'predictions' is TRUE or FALSE, and ",
            if (is.null(labels)) paste0("\"", loss, "\" needs numbers")
            else if (of_numbers) "'y' has numbers"
            else paste0("the labels of 'y' are ", paste(labels, collapse = ", ")), ": ",
            if (of_numbers) paste0("pass as.integer(", column, ")")
            else if (length(labels) == 2L) labels_by(column, labels, answer$pos_label, "TRUE")
            else "pass one of them for each observation")
}

# The labels that a condition stands for, where it may mean either.
labels_by <- function(condition, labels, positive, sign) {
  positive <- or_else(positive, labels[2L])
  shown <- function(label) if (is.character(label)) dQuote(label, FALSE) else label
  paste0("pass ifelse(", condition, ", ", shown(positive), ", ",
         shown(labels[labels != positive][1L]), ") if ", sign, " means ", shown(positive))
}

# Factors and text, where numbers are needed or 'y' has numbers.
refuse_text <- function(predictions, answer, loss) {
  number_needed <- !is_of_labels(loss) || identical(loss, "score")
  for (column in names(predictions)) {
    predicted <- predictions[[column]]
    if (!is.factor(predicted) && !is.character(predicted)) next
    if (!number_needed && !is.null(answer$labels)) next
    text <- as.character(predicted)
    # as.numeric() of a factor counts its levels.
    as_number <- if (is.factor(predicted)) "as.numeric(as.character(%s))" else "as.numeric(%s)"
    are_numbers <- !anyNA(suppressWarnings(as.numeric(text))) &&
      !(of_probabilities(loss) && all(text %in% answer$labels))
    stop_user("column '", column, "' of 'predictions' is ",
              if (is.factor(predicted)) "a factor" else "text", ", and ",
              if (!number_needed) "'y' has numbers"
              else paste0("\"", loss, "\" needs ",
                          if (of_probabilities(loss)) "probabilities" else "numbers"),
              ": ",
              if (are_numbers) paste("pass", sprintf(as_number, column))
              else if (!number_needed) "give both the same labels"
              else if (length(answer$labels) > 2L)
                "pass the probabilities of all classes, a matrix in a list"
              else if (!is.null(answer$labels) || of_probabilities(loss))
                paste("pass the probabilities of", or_else(answer$pos_label, "the positive class"))
              else "pass numbers")
  }
}

# Numbers as predictions of labels that are a factor or text.
refuse_numbers <- function(predictions, y, answer) {
  labels <- answer$labels
  for (column in names(predictions)) {
    predicted <- predictions[[column]]
    if (is.null(labels) || !is.numeric(predicted) || !all(predicted == round(predicted))) next
    stop_user("column '", column, "' of 'predictions' has numbers, and the labels of 'y' are ",
              if (is.factor(y)) "a factor: " else "text: ",
              if (all(predicted %in% labels))
                paste0("pass factor(", column, ", levels = ", if (is.factor(y)) "levels(y))" else "unique(y))")
              else if (is.factor(y) && all(predicted %in% seq_along(levels(y))))
                paste0("pass levels(y)[", column, "] if they count the levels of 'y', ",
                       paste(levels(y), collapse = ", "))
              else if (length(labels) == 2L && all(predicted %in% 0:1))
                labels_by(paste(column, "== 1"), labels, answer$pos_label, "1")
              else paste0("pass one of ", paste(labels, collapse = ", "), " for each observation"))
  }
}

score_losses <- function(scores, n_learn, n_test, design = "kfold", n_folds = NULL,
                         greater_is_better = TRUE) {
  refuse_lacking(scores = "the scores of the resamples of each learner, such as data.frame(a = , b = )",
                 n_learn = "the number of observations in a learning set",
                 n_test = "the number of observations in a test set")
  losses_of_scores(scores, list(n_learn = n_learn, n_test = n_test, design = design,
                                n_folds = n_folds, greater_is_better = greater_is_better))
}

# The arguments are those of Python's Losses.from_scores().
losses_of_scores <- function(scores, arguments) {
  refuse_other_rows(rows_by_name(scores, "scores"))
  scores <- named_columns(scores, "scores")
  for (column in names(scores)) {
    score <- scores[[column]]
    # The numbers behind a factor are places of its levels.
    if (is.factor(score) || is.character(score))
      stop_user("'scores$", column, "' is ", if (is.factor(score)) "a factor" else "text",
                ": make numbers of it by as.numeric(",
                if (is.factor(score)) "as.character(scores$" else "scores$", column,
                if (is.factor(score)) "))" else ")")
  }
  fields <- call_python("Losses.from_scores", fold_scores = lapply(scores, as.numeric),
                        .more = arguments)
  new_losses(fields, "scores of resamples")
}

evaluate_learners <- function(x, ...) UseMethod("evaluate_learners")

evaluate_learners.default <- function(x, y, learners, design = 10, loss = NULL,
                                      positive = NULL, groups = NULL, weights = NULL,
                                      n_jobs = 1, scoring = NULL, checkpoint = NULL,
                                      pos_label = NULL, metric = NULL, ...) {
  refuse_unknown(...)
  refuse_lacking(y = the_response, learners = "name some, such as c(\"lda\", \"knn:5\")")
  new_losses(ask_of_data("evaluate"))
}

evaluate_learners.formula <- formula_method(evaluate_learners.default)

# `labels` are the classes in the order of the levels.
new_losses <- function(fields, name = fields$data.name, labels = fields$labels) {
  fields$means <- matrix(fields$means, length(fields$learners),
                         dimnames = list(fields$learners, NULL))
  fields$data.name <- name
  fields["labels"] <- list(labels)
  structure(fields, class = "ucvtest_losses")
}

print.ucvtest_losses <- function(x, digits = 4L, ...) {
  refuse_others("print", "digits", ...)
  cat("\n\tLosses of learners\n\ndata:  ", x$data.name, "\n", sep = "")
  cat(x$n_obs, " observations", if (!is.null(x$n_groups)) c(" in ", x$n_groups, " groups"), ", ",
      if (x$learns) c(x$n_resamples, " resamples") else "fixed rules, one test set", "\n",
      sep = "")
  cat(if (isTRUE(x$is_metric)) "metric:  " else "loss:  ", x$loss, if (!identical(x$in_words, x$loss)) c(" (", x$in_words, ")"),
      if (!x$each) ", means of resamples only", "\n",
      if (!is.null(x$positive)) c("positive class:  ", x$positive, "\n"), sep = "")
  cat(strwrap(c(x$remarks, "")), sep = "\n")
  table <- cbind(mean = rowMeans(x$means, na.rm = TRUE))
  print(table, digits = digits)
  cat("\n")
  invisible(x)
}

as.data.frame.ucvtest_losses <- function(x, row.names = NULL, optional = FALSE, ...)
  data.frame(learner = rep(x$learners, ncol(x$means)),
             resample = rep(seq_len(ncol(x$means)), each = length(x$learners)),
             mean = as.vector(x$means), row.names = row.names)

tidy.ucvtest_losses <- tidy.ucvtest_plan <- tidy.ucvtest_selection <- function(x, ...) {
  refuse_others("tidy", NULL, ...)
  as_tibble_if_any(as.data.frame(x))
}

# The loss or metric as Python's argument (`asked`), and its name there, such as "auc" for caret's
# "ROC"; functions and costs as they are.
loss_of <- function(loss, metric, y, answer) {
  unnamed <- is.null(loss) && is.null(metric)
  if (unnamed) loss <- default_loss(answer)
  asked <- loss_or_metric(loss, metric, y, answer$labels)
  name <- or_else(asked$metric, if (is.character(loss)) asked$loss else loss)
  # Whole numbers are labels, as for the tests. Those of many values may be amounts: the loss of
  # labels is then not named, so that Python refuses them.
  list(name = name, asked = if (unnamed && identical(name, "zero_one")) list(loss = NULL) else asked)
}

default_loss <- function(answer) {
  labels <- !is.null(answer$labels) || all(answer$values == round(answer$values))
  if (labels) "zero_one" else "squared"
}

named_columns <- function(columns, argument) {
  if (is.matrix(columns)) columns <- as.data.frame(columns)
  names <- names(columns)
  if (!is.list(columns) || !length(columns) || is.null(names) || !all(nzchar(names)))
    stop_user("'", argument, "' must be a data frame or a list with a name for each learner, such ",
              "as data.frame(a = , b = ), got ", describe(columns))
  as.list(columns)
}
