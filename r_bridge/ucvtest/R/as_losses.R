# From what other packages made of a resampling to losses.

as_losses <- function(x, ...) UseMethod("as_losses")

as_losses.ucvtest_losses <- function(x, ...) x

as_losses.default <- function(x, ...)
  stop_user("'x' must be what caret::train(), caret::resamples(), tune::collect_predictions(), ",
            "mlr3::resample() or mlr3::benchmark() returned, a list of these by learner, or a ",
            "data frame with a row for each prediction, got ", describe(x))

# Several by name, on the same splits.
as_losses.list <- function(x, loss = NULL, groups = NULL, pos_label = NULL, ...) {
  if (is.null(names(x)) || !all(nzchar(names(x))) || !length(x))
    stop_user("'x' must have a name for each learner: list(a = , b = )")
  # What they score depends on the loss, so that is decided first.
  found <- lapply(x, function(each) records_of(each, ...))
  losses_of_records(found, loss, groups, pos_label, paste(names(x), collapse = ", "))
}

as_losses.train <- function(x, loss = NULL, groups = NULL, pos_label = NULL, ...) {
  refuse_unknown(...)
  losses_of_records(structure(list(records_of(x)), names = x$method), loss, groups, pos_label,
                    paste("caret's", x$method))
}

as_losses.ResampleResult <- function(x, loss = NULL, groups = NULL, pos_label = NULL, ...) {
  refuse_unknown(...)
  losses_of_records(structure(list(records_of(x)), names = x$learner$id), loss, groups, pos_label,
                    x$task$id)
}

as_losses.BenchmarkResult <- function(x, loss = NULL, groups = NULL, pos_label = NULL, ...) {
  refuse_unknown(...)
  results <- lapply(seq_len(x$n_resample_results), function(i) x$resample_result(i))
  tasks <- unique(vapply(results, function(each) each$task$id, ""))
  if (length(tasks) > 1L)
    stop_user("'x' has several tasks (", paste(tasks, collapse = ", "), "): filter one of them")
  names(results) <- vapply(results, function(each) each$learner$id, "")
  losses_of_records(lapply(results, records_of), loss, groups, pos_label, tasks)
}

# A table with a row for each tested observation of each fold: the columns are named.
as_losses.data.frame <- function(x, truth, predictions = NULL, fold = NULL, row = NULL,
                                 loss = NULL, groups = NULL, pos_label = NULL, splits = NULL,
                                 learner = "learner", ...) {
  refuse_unknown(...)
  if (".row" %in% names(x)) {
    found <- structure(list(records_of(x, truth = truth, splits = splits)), names = learner)
    return(losses_of_records(found, loss, groups, pos_label, "tidymodels"))
  }
  if (missing(truth) || is.null(predictions) || is.null(fold))
    stop_user("name the columns: truth = , predictions = c(), fold = , and row = where rows are ",
              "tested several times")
  have_columns(x, c(truth, predictions, fold, row))
  tested <- if (is.null(row)) seq_len(nrow(x)) else x[[row]]
  learners <- or_else(names(predictions), predictions)
  learners[!nzchar(learners)] <- predictions[!nzchar(learners)]
  found <- lapply(structure(predictions, names = learners),
                  function(column)
                    list(resample = as_resample(x[fold]), row = tested, obs = x[[truth]],
                         pred = function(loss, positive) x[[column]],
                         learning = learning_of(splits)))
  losses_of_records(found, loss, groups, pos_label, "table of folds")
}

# What caret's own summary functions compute.
higher_is_better <- c(Accuracy = TRUE, Kappa = TRUE, ROC = TRUE, Sens = TRUE, Spec = TRUE,
                      AUC = TRUE, Precision = TRUE, Recall = TRUE, F = TRUE, Rsquared = TRUE,
                      RMSE = FALSE, MAE = FALSE, logLoss = FALSE)

# Only the mean of each resample, in the units of the metric.
as_losses.resamples <- function(x, metric = x$metrics[1L], n, n_learn = NULL, n_test = NULL,
                                greater_is_better = NULL, ...) {
  refuse_unknown(...)
  if (!metric %in% x$metrics)
    stop_user("'metric' must be one of ", paste0("\"", x$metrics, "\"", collapse = ", "))
  higher <- or_else(greater_is_better, unname(higher_is_better[metric]))
  if (is.na(higher))
    stop_user("'greater_is_better' is missing: say whether higher values of the metric ", metric,
              " are better")
  names <- as.character(x$values$Resample)
  fold <- sub("^Fold([0-9]+).*$", "\\1", names)
  repetition <- ifelse(grepl("Rep", names), sub("^.*Rep([0-9]+)$", "\\1", names), "1")
  folds <- all(grepl("^Fold[0-9]+(\\.Rep[0-9]+)?$", names))
  if ((missing(n) || !folds) && (is.null(n_learn) || is.null(n_test)))
    stop_user("caret::resamples() keeps no numbers of observations: give ",
              if (folds) "n = nrow(data)" else "n_learn = and n_test =",
              ", or as_losses() of the list of train objects with savePredictions = \"final\"")
  if (folds) {
    order <- order(as.integer(repetition), as.integer(fold))
    n_folds <- length(unique(fold))
    n_test <- or_else(n_test, n %/% n_folds)
    n_learn <- or_else(n_learn, n - n_test)
  } else order <- order(names)
  scores <- x$values[order, paste0(x$models, "~", metric), drop = FALSE]
  names(scores) <- x$models
  score_losses(scores, n_learn, n_test, 
               design = if (!folds) "splits" else if (n_folds < nrow(scores)) "repeated_kfold"
                        else "kfold",
               n_folds = if (folds) n_folds,
               greater_is_better = higher)
}

# Predictions of one learner: the resample and the row of each, the truth, the predictions that a
# loss needs, and the rows that were learnt from.
records_of <- function(x, ...) UseMethod("records_of")

records_of.default <- function(x, ...)
  stop_user("'x' must hold what caret::train(), tune::collect_predictions() or mlr3::resample() ",
            "returned, got ", describe(x))

records_of.train <- function(x, ...) {
  if (is.null(x$pred))
    stop_user("caret kept no predictions: train with ",
              "trainControl(savePredictions = \"final\", classProbs = TRUE)")
  kept <- x$pred
  # With savePredictions = "all" there are those of every setting.
  for (name in intersect(names(x$bestTune), names(kept)))
    kept <- kept[kept[[name]] == x$bestTune[[name]], ]
  index <- x$control$index
  list(resample = as_resample(kept["Resample"], names(index)), row = kept$rowIndex,
       obs = kept$obs, learning = index,
       pred = function(loss, positive) {
         if (is_of_labels(loss) || !is.factor(kept$obs)) return(kept$pred)
         probability(kept, positive, "classProbs = TRUE in trainControl()")
       })
}

records_of.data.frame <- function(x, truth, splits = NULL, ...) {
  if (!".row" %in% names(x))
    stop_user("the table has no column .row: take collect_predictions() of a result with ",
              "control_resamples(save_pred = TRUE)")
  if (missing(truth)) stop_user("'truth' is missing: name the column with the response")
  have_columns(x, truth)
  if (".config" %in% names(x) && length(unique(x$.config)) > 1L)
    stop_user("the table has predictions of ", length(unique(x$.config)),
              " settings: keep one of .config")
  list(resample = as_resample(x[intersect(c("id", "id2"), names(x))]), row = x$.row,
       obs = x[[truth]], learning = learning_of(splits),
       pred = function(loss, positive) {
         if (!is.factor(x[[truth]])) return(x$.pred)
         if (is_of_labels(loss)) return(x$.pred_class)
         names(x) <- sub("^\\.pred_", "", names(x))
         probability(x, positive, "predictions of probabilities")
       })
}

records_of.ResampleResult <- function(x, ...) {
  predictions <- x$predictions()
  each <- function(part) unlist(lapply(predictions, function(p) as.vector(p[[part]])))
  truth <- lapply(predictions, function(p) p$truth)
  labels <- is.factor(truth[[1L]])
  obs <- if (labels) factor(each("truth"), levels(truth[[1L]])) else each("truth")
  sizes <- vapply(predictions, function(p) length(p$row_ids), 1L)
  list(resample = factor(rep(seq_along(sizes), sizes)), row = each("row_ids"), obs = obs,
       learning = lapply(seq_along(predictions), x$resampling$train_set),
       pred = function(loss, positive) {
         if (is_of_labels(loss) || !labels) return(each("response"))
         tables <- do.call(rbind, lapply(predictions, function(p) p$prob))
         probability(as.data.frame(tables, optional = TRUE), positive,
                     "predict_type = \"prob\" of the learner")
       })
}

# Whether a loss is of labels; the others need probabilities or scores where there are classes.
is_of_labels <- function(loss) is.function(loss) || loss %in% c("zero_one", "accuracy")

probability <- function(table, positive, remedy) {
  if (!positive %in% names(table))
    stop_user("there are no probabilities of class '", positive, "': they need ", remedy)
  table[[positive]]
}

have_columns <- function(x, names) {
  lacking <- setdiff(names, names(x))
  if (length(lacking))
    stop_user("'x' has no column ", paste0("'", lacking, "'", collapse = ", "))
}

# Resamples in the order of their names' numbers, whatever the alphabet says of "Fold10".
as_resample <- function(columns, levels = NULL) {
  labels <- do.call(paste, c(lapply(columns, as.character), sep = "."))
  factor(labels, or_else(levels, unique(labels)))
}

# Learning sets of rsample's splits, or a list of row numbers.
learning_of <- function(splits) {
  if (inherits(splits, "rset")) lapply(splits$splits, `[[`, "in_id") else splits
}

losses_of_records <- function(found, loss, groups, pos_label, name) {
  first <- found[[1L]]
  row <- as.integer(first$row)
  order <- order(first$resample, row)
  key <- function(each) paste(each$resample, each$row)
  if (anyDuplicated(key(first)))
    stop_user("a row is tested twice in one resample: name row = , or keep one setting")
  places <- lapply(found, function(each) match(key(first)[order], key(each)))
  for (learner in names(found))
    if (anyNA(places[[learner]]) || length(places[[learner]]) != length(found[[learner]]$row))
      stop_user("learner ", learner, " has other splits than ", names(found)[1L],
                ": use the same folds for all, such as trainControl(index = )")
  y <- first$obs[match(seq_len(max(row)), row)]
  if (anyNA(y))
    stop_user("row ", which(is.na(y))[1L], " is never tested, or its truth is missing: every row ",
              "of the data must be tested in one resample or another")
  answer <- response(y, pos_label)
  if (is.null(loss)) loss <- default_loss(answer)
  positive <- or_else(answer$pos_label, answer$labels[length(answer$labels)])
  predictions <- Map(function(each, place) prediction_vector(each$pred(loss, positive)[place]),
                     found, places)
  resamples <- levels(droplevels(first$resample))
  testing <- indicators(split(row, droplevels(first$resample)), length(y))
  learning <- if (is.null(first$learning)) 1L - testing else
    indicators(if (is.null(names(first$learning))) first$learning else first$learning[resamples],
               length(y))
  fields <- call_python("resampled_losses", y = answer$values, tested = answer$values[row[order]],
                        predictions = predictions, learning = learning, testing = testing,
                        arguments = list(loss = as_loss(loss, y), pos_label = answer$pos_label,
                                         groups = as_groups(groups, length(y))))
  new_losses(fields, name)
}

# A row for each set, a column for each observation.
indicators <- function(sets, n_obs) {
  rows <- lapply(sets, function(set) as.integer(seq_len(n_obs) %in% set))
  matrix(as.integer(unlist(rows)), length(sets), n_obs, byrow = TRUE)
}
