# From what other packages made of a resampling to losses.

as_losses <- function(x, ...) UseMethod("as_losses")

as_losses.ucvtest_losses <- function(x, ...) x

as_losses.default <- function(x, ...)
  stop_user("'x' must be what caret::train(), caret::resamples(), tune::collect_predictions(), ",
            "mlr3::resample(), mlr3::benchmark(), pROC::roc() or riskRegression::Score() ",
            "returned, a list of these by learner, or a data frame with a row for each ",
            "prediction, got ", describe(x))

# Several by name, on the same splits.
as_losses.list <- function(x, loss = NULL, groups = NULL, pos_label = NULL, ...) {
  if (is.null(names(x)) || !all(nzchar(names(x))) || !length(x))
    stop_user("'x' must have a name for each learner: list(a = , b = )")
  curves <- vapply(x, inherits, NA, "roc")
  if (all(curves)) return(losses_of_curves(x, groups, ...))
  # What they score depends on the loss, so that is decided first.
  found <- lapply(x, function(each) records_of(each, ...))
  name <- if (inherits(x[[1L]], "train")) "resamples of caret"
          else if (inherits(x[[1L]], "ResampleResult")) x[[1L]]$task$id
          else "predictions of tidymodels"
  losses_of_records(found, loss, groups, pos_label, name)
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

# ROC curves of pROC: scores of rules that learnt elsewhere.
as_losses.roc <- function(x, groups = NULL, ...) losses_of_curves(list(score = x), groups, ...)

losses_of_curves <- function(curves, groups, ...) {
  refuse_unknown(...)
  first <- curves[[1L]]
  for (curve in curves)
    if (!identical(as.character(curve$response), as.character(first$response)))
      stop_user("the ROC curves are of different responses: compare rules on the same observations")
  scores <- lapply(curves, function(curve)
    if (curve$direction == "<") as.numeric(curve$predictor) else -as.numeric(curve$predictor))
  losses_of_rules(factor(as.character(first$response), first$levels), scores, "ROC curves", "auc",
                  groups)
}

# riskRegression: predicted risks, where it kept them.
as_losses.Score <- function(x, loss = "auc", groups = NULL, ...) {
  refuse_unknown(...)
  if (!identical(x$response.type, "binary"))
    stop_user("'x' is of a ", x$response.type, " response, which may be censored, and no test here ",
              "can use that: riskRegression::Score() itself has standard errors for it")
  if (!is.null(x$split.method$name) && !identical(x$split.method$name, "no data splitting"))
    stop_user("'x' is of resampled models (", x$split.method$name, "), whose predictions it does ",
              "not keep: give the learners themselves to evaluate_learners()")
  risks <- as.data.frame(x$risks$score)
  if (!nrow(risks))
    stop_user("riskRegression::Score() kept no predictions: call it with summary = \"risks\"")
  of_model <- split(risks, risks$model, drop = TRUE)
  in_order <- lapply(of_model, function(rows) rows[order(rows$ID), ])
  # Its second value is the event.
  losses_of_rules(factor(in_order[[1L]]$ReSpOnSe), lapply(in_order, `[[`, "risk"),
                  "riskRegression::Score()", loss, groups)
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
                         learning = learning_of(splits), response = response_of(splits, truth)))
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
# loss needs; and where the object has them, the rows that were learnt from and the response of all
# rows, tested or not.
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
  # Leave-one-out has no names of resamples, as each row is one.
  each_row <- is.null(kept$Resample)
  list(resample = if (each_row) factor(kept$rowIndex) else as_resample(kept["Resample"], names(index)),
       row = kept$rowIndex, obs = kept$obs, learning = if (!each_row) index,
       response = x$trainingData$.outcome,
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
  resample <- as_resample(x[intersect(c("id", "id2"), names(x))])
  if (is.null(splits) && any(startsWith(levels(resample), "Bootstrap"))) refuse_bootstrap()
  list(resample = resample, row = x$.row, obs = x[[truth]], learning = learning_of(splits),
       response = response_of(splits, truth),
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
  # The rows of a filtered task keep their numbers.
  place <- function(rows) match(rows, x$task$row_ids)
  sets <- lapply(seq_along(predictions), x$resampling$train_set)
  list(resample = factor(rep(seq_along(sizes), sizes)), row = place(each("row_ids")), obs = obs,
       learning = lapply(sets, place), response = x$task$truth(),
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

# rsample's splits have the data.
response_of <- function(splits, truth)
  if (inherits(splits, "rset")) splits$splits[[1L]]$data[[truth]]

refuse_bootstrap <- function()
  stop_user("these are bootstrap samples, which hold rows several times, and no test here is about ",
            "learning from such: resample by cross-validation or random splits, such as ",
            "caret::trainControl(\"cv\") or rsample::vfold_cv()")

refuse_repeated_rows <- function(sets) {
  if (any(vapply(sets, anyDuplicated, 1L) > 0L)) refuse_bootstrap()
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
  learning <- first$learning
  refuse_repeated_rows(learning)
  y <- whole_response(first, row)
  answer <- response(y, pos_label)
  if (is.null(loss)) loss <- default_loss(answer)
  positive <- or_else(answer$pos_label, answer$labels[length(answer$labels)])
  predictions <- Map(function(each, place) prediction_vector(each$pred(loss, positive)[place]),
                     found, places)
  resamples <- levels(droplevels(first$resample))
  testing <- indicators(split(row, droplevels(first$resample)), length(y))
  learning <- if (is.null(learning)) 1L - testing else
    indicators(if (is.null(names(learning))) learning else learning[resamples], length(y))
  fields <- call_python("resampled_losses", y = answer$values, tested = answer$values[row[order]],
                        predictions = predictions, learning = learning, testing = testing,
                        arguments = list(loss = as_loss(loss, y), pos_label = answer$pos_label,
                                         groups = as_groups(groups, length(y))))
  new_losses(fields, name)
}

# The response of all rows, as far as it is known: hold-out and random splits leave rows untested.
whole_response <- function(first, row) {
  if (!is.null(first$response)) return(first$response)
  n_obs <- max(row, unlist(first$learning))
  tested <- match(seq_len(n_obs), row)
  if (anyNA(first$obs))
    stop_user("the truth of row ", row[is.na(first$obs)][1L], " is missing")
  if (anyNA(tested) && is.null(first$learning))
    stop_user("row ", which(is.na(tested))[1L], " is never tested, and it is not known whether it ",
              "was learnt from: give splits = , as rsample returned them or as a list of the rows ",
              "of each learning set")
  # No loss is about a row that was not tested: any label will do.
  tested[is.na(tested)] <- 1L
  first$obs[tested]
}

# A row for each set, a column for each observation.
indicators <- function(sets, n_obs) {
  rows <- lapply(sets, function(set) as.integer(seq_len(n_obs) %in% set))
  matrix(as.integer(unlist(rows)), length(sets), n_obs, byrow = TRUE)
}
