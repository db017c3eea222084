# From what other packages made of a resampling to losses.

as_losses <- function(x, ...) UseMethod("as_losses")

as_losses.ucvtest_losses <- function(x, ...) x

as_losses.default <- function(x, ...)
  stop_user("'x' must be what caret::train(), caret::resamples(), tune::collect_predictions(), ",
            "mlr3::resample(), mlr3::benchmark(), pROC::roc() or riskRegression::Score() ",
            "returned, a list of these by learner, or a data frame with a row for each ",
            "prediction, got ", describe(x))

# Several by name, on the same splits.
as_losses.list <- function(x, loss = NULL, groups = NULL, positive = NULL, pos_label = NULL,
                           metric = NULL, ...) {
  if (is.null(names(x)) || !all(nzchar(names(x))) || !length(x))
    stop_user("'x' must have a name for each learner: list(a = , b = )")
  for (each in x) if (inherits(each, c("smooth.roc", "multiclass.roc"))) as_losses(each)
  curves <- vapply(x, inherits, NA, "roc")
  if (all(curves)) {
    # They are about the area, with their own cases.
    given <- list(loss = loss, positive = positive, pos_label = pos_label, metric = metric, ...)
    return(do.call(losses_of_curves, c(list(x, groups), Filter(Negate(is.null), given))))
  }
  refuse_untaken(x, ...)
  # What they score depends on the loss, so that is decided first.
  found <- lapply(x, function(each) records_of(each, ...))
  first <- x[[1L]]
  name <- if (inherits(first, "ResampleResult")) first$task$id
          else if (!inherits(first, "train")) "predictions of tidymodels"
          else if (length(x) > 1L) "resamples of caret"
          else paste("caret's", first$method)
  losses_of_records(found, loss, groups, as_positive(positive, pos_label), name, metric)
}

# Arguments of a list that the method of no element takes; only tables take some of their own.
refuse_untaken <- function(x, ...) {
  taken <- if (any(vapply(x, is.data.frame, NA)))
    setdiff(names(formals(records_of.data.frame)), c("x", "..."))
  given <- list(...)
  named <- or_else(names(given), character(length(given)))
  do.call(refuse_unknown, given[is.na(pmatch(named, taken))])
}

as_losses.train <- function(x, ...) as_losses.list(structure(list(x), names = x$method), ...)

as_losses.ResampleResult <- function(x, ...)
  as_losses.list(structure(list(x), names = x$learner$id), ...)

as_losses.BenchmarkResult <- function(x, ...) {
  results <- lapply(seq_len(x$n_resample_results), function(i) x$resample_result(i))
  tasks <- unique(vapply(results, function(each) each$task$id, ""))
  if (length(tasks) > 1L)
    stop_user("'x' has several tasks (", paste(tasks, collapse = ", "), "): filter one of them")
  names(results) <- vapply(results, function(each) each$learner$id, "")
  as_losses.list(results, ...)
}

# ROC curves of pROC: scores of rules that learnt elsewhere.
as_losses.roc <- function(x, ...) losses_of_curves(list(score = x), ...)

# They keep sensitivities, or curves of several classes, and no score of any observation.
as_losses.smooth.roc <- function(x, ...)
  stop_user("'x' is a ", class(x)[1L], " of pROC, which keeps no score of any observation: give the ",
            "curve that pROC::roc() made before it was smoothed")
as_losses.multiclass.roc <- function(x, ...)
  stop_user("'x' is a ", class(x)[1L], " of pROC, which is of several curves: give one that ",
            "pROC::roc(levels = ) made of two classes")

losses_of_curves <- function(curves, groups = NULL, ...) {
  refuse_unknown(...)
  for (learner in names(curves)) refuse_partial_area(curves[[learner]], learner)
  first <- curves[[1L]]
  named <- all(vapply(curves, function(curve) !is.null(names(curve$predictor)), NA))
  id <- lapply(curves, rows_of_curve, named)
  place <- list()
  for (learner in names(curves)) {
    curve <- curves[[learner]]
    of <- paste0("ROC curves ", names(curves)[1L], " and ", learner)
    if (!identical(as.character(curve$levels), as.character(first$levels)))
      stop_user(of, " have other cases: ", last(first$levels), " and ", last(curve$levels),
                ": draw both with the same levels =, which names controls and then cases")
    if (!setequal(id[[learner]], id[[1L]]))
      stop_user(of, " are of different observations: draw both from the rows that have all ",
                "predictors, or give pROC::roc() predictors with the names of the rows")
    place[[learner]] <- match(id[[1L]], id[[learner]])
    if (!same_values(curve$response[place[[learner]]], first$response))
      stop_user(of, " are of different responses: compare rules on the same observations, in the ",
                "same order or with predictors that have the names of the rows")
  }
  scores <- Map(function(curve, rows) {
    score <- as.numeric(curve$predictor)[rows]
    if (curve$direction == "<") score else -score
  }, curves, place)
  cases <- last(first$levels)
  warn_of_chosen_directions(curves, cases)
  low <- names(Filter(function(curve) curve$direction == ">", curves))
  remarks <- c(paste0("The positive class is ", dQuote(cases, FALSE), ", the cases of pROC."),
               sprintf("Low values of %s mean %s, by the direction \">\" of its curve.", low,
                       dQuote(cases, FALSE)))
  losses_of_rules(factor(as.character(first$response), first$levels), scores, "ROC curves", "auc",
                  groups, positive = cases, remarks = paste(remarks, collapse = " "))
}

# A direction that pROC chose by the medians makes areas below 0.5 ones above it.
warn_of_chosen_directions <- function(curves, cases) {
  chosen <- vapply(curves, function(curve) {
    said <- as.list(curve$call)$direction
    curve$direction == ">" && (is.null(said) || identical(said, "auto"))
  }, NA)
  if (!any(chosen)) return(invisible())
  warning(warningCondition(call = user_call(), class = "ucvtest_direction", paste0(
    "pROC::roc() chose by the medians that low values of ", paste(names(curves)[chosen], collapse = ", "),
    " mean ", dQuote(cases, FALSE), ": if high values are meant to, its area is one minus the ",
    "reported one. Say direction = \"<\" or \">\" in pROC::roc()")))
}

refuse_partial_area <- function(curve, learner) {
  part <- attr(curve$auc, "partial.auc")
  if (is.null(part) || identical(part, FALSE)) return(invisible())
  stop_user("ROC curve ", learner, " has a partial area (partial.auc = c(",
            paste(part, collapse = ", "), ")), and no test here is about a part of the curve: draw ",
            "it without partial.auc for the whole area, or see pROC::roc.test()")
}

# Which observations a curve is of: by the names of the predictor, or by their places among those
# that pROC was given, of which it drops the ones without a value and of other levels.
rows_of_curve <- function(curve, named) {
  if (named) return(names(curve$predictor))
  kept <- which(!is.na(curve$original.predictor) &
                  as.character(curve$original.response) %in% as.character(curve$levels))
  if (length(kept) == length(curve$predictor)) kept else seq_along(curve$predictor)
}

last <- function(values) as.character(values)[length(values)]

same_values <- function(a, b) {
  if (length(a) != length(b)) return(FALSE)
  if (is.numeric(a) && is.numeric(b)) isTRUE(all.equal(as.numeric(a), as.numeric(b)))
  else identical(as.character(a), as.character(b))
}

# riskRegression: predicted risks, where it kept them.
as_losses.Score <- function(x, loss = "auc", groups = NULL, ...) {
  refuse_unknown(...)
  if (!identical(x$response.type, "binary"))
    stop_user("'x' is of a ", x$response.type, " response, which may be censored: give the risks to ",
              "prediction_losses(Surv(time, event), risks, metric = \"brier(365)\"), see ?metrics")
  if (!is.null(x$split.method$name) && !identical(x$split.method$name, "no data splitting"))
    stop_user("'x' is of resampled models (", x$split.method$name, "), whose predictions it does ",
              "not keep: give the learners themselves to evaluate_learners()")
  risks <- as.data.frame(x$risks$score)
  if (!nrow(risks))
    stop_user("riskRegression::Score() kept no predictions: call it with summary = \"risks\"")
  of_model <- split(risks, risks$model, drop = TRUE)
  in_order <- lapply(of_model, function(rows) rows[order(rows$ID), ])
  # Its second value is the event.
  event <- factor(in_order[[1L]]$ReSpOnSe)
  losses_of_rules(event, lapply(in_order, `[[`, "risk"), "riskRegression::Score()", loss, groups,
                  positive = last(levels(event)))
}

# A table with a row for each tested observation of each fold: the columns are named.
as_losses.data.frame <- function(x, truth, predictions = NULL, fold = NULL, row = NULL,
                                 loss = NULL, groups = NULL, positive = NULL, splits = NULL,
                                 learner = "learner", pos_label = NULL, metric = NULL, ...) {
  refuse_unknown(...)
  positive <- as_positive(positive, pos_label)
  if (".row" %in% names(x)) {
    found <- structure(list(records_of(x, truth = truth, splits = splits)), names = learner)
    return(losses_of_records(found, loss, groups, positive, "tidymodels", metric))
  }
  if (missing(truth) || is.null(predictions) || is.null(fold))
    stop_user("name the columns: truth = , predictions = c(), fold = , and row = where rows are ",
              "tested several times")
  have_columns(x, c(truth, predictions, fold, row))
  if (!is.null(row)) refuse_missing(x[[row]], paste0("x$", row))
  tested <- if (is.null(row)) seq_len(nrow(x)) else x[[row]]
  learners <- or_else(names(predictions), predictions)
  learners[!nzchar(learners)] <- predictions[!nzchar(learners)]
  found <- lapply(structure(predictions, names = learners),
                  function(column)
                    list(resample = as_resample(x[fold]), row = tested, obs = x[[truth]],
                         pred = function(loss, positive) x[[column]], column = column,
                         learning = learning_of(splits), response = response_of(splits, truth)))
  losses_of_records(found, loss, groups, positive, "table of folds", metric)
}

# What caret's own summary functions compute, and what Python calls it, which knows its range.
caret_scores <- c(
  Accuracy = "accuracy", Kappa = "cohen_kappa", Rsquared = "squared_correlation", ROC = "roc_auc",
  # Of the ROC curve for several classes, otherwise of precision and recall.
  AUC = "area_under_curve", Sens = "sensitivity", Spec = "specificity", Precision = "precision",
  Recall = "recall", F = "f1")
caret_losses <- c(RMSE = "root_mean_squared_error", MAE = "mean_absolute_error",
                  logLoss = "log_loss")

# Only the mean of each resample, in the units of the metric.
as_losses.resamples <- function(x, metric = x$metrics[1L], n, n_learn = NULL, n_test = NULL,
                                greater_is_better = NULL, ...) {
  refuse_unknown(...)
  if (!metric %in% x$metrics)
    stop_user("'metric' must be one of ", quoted(x$metrics))
  name <- unname(c(caret_scores, caret_losses)[metric])
  own <- if (is.na(name)) NA else metric %in% names(caret_scores)
  higher <- or_else(greater_is_better, own)
  if (is.na(higher))
    stop_user("'greater_is_better' is missing: say whether higher values of the metric ", metric,
              " are better")
  names <- as.character(x$values$Resample)
  fold <- sub("^Fold([0-9]+).*$", "\\1", names)
  repetition <- ifelse(grepl("Rep", names), sub("^.*Rep([0-9]+)$", "\\1", names), "1")
  folds <- all(grepl("^Fold[0-9]+(\\.Rep[0-9]+)?$", names))
  if (missing(n)) n <- NULL
  refuse_sizes(n, n_learn, n_test)
  random <- all(grepl("^Resample[0-9]+$", names))
  if (random) refuse_bootstrap_names(x, n, n_learn, n_test)
  if ((is.null(n) || !folds) && (is.null(n_learn) || is.null(n_test)) || random && is.null(n))
    stop_user("caret::resamples() keeps no numbers of observations",
              if (random) paste(", and random splits have the same names as bootstrap samples, which",
                                "are refused"),
              ": give ", if (folds) "n = nrow(data)" else "n_learn = and n_test =",
              if (random) ", and n = nrow(data)",
              ", or as_losses() of the list of train objects with savePredictions = \"final\"")
  if (!is.null(n) && !is.null(n_learn) && !is.null(n_test) && n_learn + n_test > n)
    stop_user("'n_learn' and 'n_test' are ", n_learn + n_test, " together, and n = ", n,
              ": no observation is both learnt from and tested")
  if (folds) {
    order <- order(as.integer(repetition), as.integer(fold))
    n_folds <- length(unique(fold))
    n_test <- or_else(n_test, n %/% n_folds)
    n_learn <- or_else(n_learn, n - n_test)
  } else order <- order(names)
  scores <- x$values[order, paste0(x$models, "~", metric), drop = FALSE]
  names(scores) <- x$models
  losses_of_scores(scores, list(
    n_learn = n_learn, n_test = n_test,
    design = if (!folds) "splits" else if (n_folds < nrow(scores)) "repeated_kfold" else "kfold",
    n_folds = if (folds) n_folds, greater_is_better = higher,
    # What has another direction is another metric.
    score = if (identical(higher, own)) name else metric))
}

# Predictions of one learner: the resample and the row of each, the truth, the predictions that a
# loss needs; and where the object has them, the rows that were learnt from, the response of all
# rows, tested or not, their names and their columns, by which those of two learners are matched.
records_of <- function(x, ...) UseMethod("records_of")

records_of.default <- function(x, ...)
  stop_user("'x' must contain what caret::train(), tune::collect_predictions() or mlr3::resample() ",
            "returned, got ", describe(x))

records_of.train <- function(x, ...) {
  if (is.null(x$pred))
    stop_user("caret kept no predictions, as savePredictions is FALSE unless given, and a test needs ",
              "those of each observation: train again with trainControl(savePredictions = \"final\", ",
              "classProbs = TRUE), or give caret::resamples(list(a = , b = )), whose means of resamples some tests take")
  kept <- x$pred
  # With savePredictions = "all" there are those of every setting.
  for (name in intersect(names(x$bestTune), names(kept)))
    kept <- kept[kept[[name]] == x$bestTune[[name]], ]
  index <- x$control$index
  # Leave-one-out has no names of resamples, as each row is one.
  each_row <- is.null(kept$Resample)
  list(resample = if (each_row) factor(kept$rowIndex) else as_resample(kept["Resample"], names(index)),
       row = kept$rowIndex, obs = kept$obs, learning = if (!each_row) index,
       response = x$trainingData$.outcome, id = own_row_names(x$trainingData),
       columns = x$trainingData,
       declared = list(class = levels(kept$obs)[1L], by = "the first level, as caret has it"),
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
  if (!"id" %in% names(x))
    stop_user("the table has no column id: collect_predictions(summarize = TRUE) makes one prediction ",
              "of the resamples that test a row, and which resample it was is gone: take ",
              "summarize = FALSE")
  resample <- as_resample(x[intersect(c("id", "id2"), names(x))])
  if (is.null(splits) && any(startsWith(levels(resample), "Bootstrap"))) refuse_bootstrap()
  list(resample = resample, row = x$.row, obs = x[[truth]], learning = learning_of(splits),
       response = response_of(splits, truth), declared = yardstick_event(x[[truth]]),
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
       id = as.character(x$task$row_ids),
       declared = list(class = x$task$positive, by = "as the task of mlr3 has it"),
       pred = function(loss, positive) {
         if (is_of_labels(loss) || !labels) return(each("response"))
         tables <- do.call(rbind, lapply(predictions, function(p) p$prob))
         probability(as.data.frame(tables, optional = TRUE), positive,
                     "predict_type = \"prob\" of the learner")
       })
}

# The first level, unless the option says otherwise that yardstick has for it.
yardstick_event <- function(truth) {
  second <- identical(getOption("yardstick.event_first"), FALSE)
  list(class = levels(truth)[1L + second],
       by = if (second) "the second level, as options(yardstick.event_first = FALSE) has it"
            else "the first level, as yardstick has it")
}

# Whether a loss is of labels; the others need probabilities or scores where there are classes.
is_of_labels <- function(loss)
  is.function(loss) || is.matrix(loss) || loss %in% c("zero_one", "accuracy") ||
    !loss %in% known_losses && !of_probabilities(loss)

# All else is a metric; those of numbers have no class that could be the positive one.
known_losses <- c("squared", "absolute", "log", "brier", "auc", "mse", "mae", "log_loss", "roc_auc")

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
  refuse_missing_in(columns, "x")
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
  stop_user("these are bootstrap samples, which contain rows several times, and no test here is about ",
            "learning from such: resample by cross-validation or random splits, such as ",
            "caret::trainControl(\"cv\") or rsample::vfold_cv()")

# caret calls bootstrap samples as it calls random splits. Of random splits no observation is both
# learnt from and tested, and the test sets have one size, of which each accuracy is a whole number.
refuse_bootstrap_names <- function(x, n, n_learn, n_test) {
  if (is.null(n)) return(invisible())
  if (or_else(n_learn, 1) + or_else(n_test, 1) > n) refuse_bootstrap()
  if (!"Accuracy" %in% x$metrics) return(invisible())
  accuracy <- unlist(x$values[paste0(x$models, "~Accuracy")])
  of_size <- function(size) all(abs(accuracy * size - round(accuracy * size)) < 1e-6, na.rm = TRUE)
  if (!any(vapply(or_else(n_test, seq_len(n - 1L)), of_size, NA))) refuse_bootstrap()
}

refuse_sizes <- function(...) {
  sizes <- structure(list(...), names = c("n", "n_learn", "n_test"))
  for (name in names(sizes)) {
    size <- sizes[[name]]
    whole <- is.numeric(size) && length(size) == 1L && isTRUE(size >= 1 & size == round(size))
    if (!is.null(size) && !whole)
      stop_user("'", name, "' must be a number of observations, got ",
                if (length(size) == 1L) format(size) else describe(size))
  }
}

refuse_repeated_rows <- function(sets) {
  if (any(vapply(sets, anyDuplicated, 1L) > 0L)) refuse_bootstrap()
}

# Names of rows that somebody gave, and not the numbers that every data frame has.
own_row_names <- function(data)
  if (is.data.frame(data) && .row_names_info(data) > 0L) rownames(data)

# Those of each learner with the rows numbered as the first has them.
matched_records <- function(found) {
  first <- found[[1L]]
  for (learner in names(found)[-1L]) {
    pair <- paste("learners", names(found)[1L], "and", learner)
    each <- in_order_of(first, found[[learner]], pair)
    if (!is.null(first$response) && !is.null(each$response) &&
        !same_values(each$response, first$response))
      stop_user(pair, " learnt from other responses, or from the same rows in another order, and ",
                remedy_of_order)
    found[[learner]] <- each
  }
  found
}

in_order_of <- function(first, each, pair) {
  if (is.null(first$id) || is.null(each$id)) {
    if (any_permuted(first$columns, each$columns))
      stop_user(pair, " have the same rows in another order, and ", remedy_of_order)
    return(each)
  }
  if (!setequal(first$id, each$id))
    stop_user(pair, " are of different rows, such as the row named ",
              c(setdiff(each$id, first$id), setdiff(first$id, each$id))[1L],
              ": train both on the same rows")
  place <- match(each$id, first$id)
  each$row <- place[each$row]
  if (!is.null(each$learning)) each$learning <- lapply(each$learning, function(set) place[set])
  each$response <- each$response[match(first$id, each$id)]
  each
}

remedy_of_order <- paste("nothing says which belong together: train both on the same data, or on",
                         "data frames with the same names of rows")

# Whether a column that both have contains the same values in another order. Columns that differ in
# their values say nothing: one of the learners may have scaled them.
any_permuted <- function(first, each) {
  permuted <- function(name) {
    a <- as.vector(first[[name]])
    b <- as.vector(each[[name]])
    length(a) == length(b) && !identical(a, b) && identical(sort(a), sort(b))
  }
  any(vapply(intersect(names(first), names(each)), permuted, NA))
}

# Every learner has to be tested on the same rows of the same resamples, with the same truth, and
# to have learnt from the same.
places_of <- function(found, order) {
  first <- found[[1L]]
  key <- function(each) paste(each$resample, each$row)
  if (anyDuplicated(key(first)))
    stop_user("a row is tested twice in one resample: name row = , or keep one setting")
  named <- !is.null(names(first$learning))
  sets_of <- function(each) {
    sets <- lapply(each$learning, function(set) sort(as.integer(set)))
    if (named && !is.null(names(sets))) sets[names(first$learning)] else sets
  }
  lapply(structure(names(found), names = names(found)), function(learner) {
    each <- found[[learner]]
    place <- match(key(first)[order], key(each))
    other_sets <- !is.null(first$learning) && !is.null(each$learning) &&
      !identical(unname(sets_of(each)), unname(sets_of(first)))
    if (anyNA(place) || length(place) != length(each$row) || other_sets)
      stop_user("learner ", learner, " has other splits than ", names(found)[1L],
                ": use the same folds for all, such as trainControl(index = )")
    if (!same_values(each$obs[place], first$obs[order]))
      stop_user("learners ", names(found)[1L], " and ", learner, " have other truths for the same ",
                "rows, the first in row ",
                first$row[order][!same_each(each$obs[place], first$obs[order])][1L], ", and ",
                remedy_of_order)
    place
  })
}

same_each <- function(a, b) if (is.numeric(a)) a == b else as.character(a) == as.character(b)

losses_of_records <- function(found, loss, groups, positive, name, metric = NULL) {
  found <- matched_records(found)
  first <- found[[1L]]
  row <- as.integer(first$row)
  order <- order(first$resample, row)
  places <- places_of(found, order)
  learning <- first$learning
  refuse_repeated_rows(learning)
  y <- whole_response(first, row)
  answer <- response(y, positive)
  found_loss <- loss_of(loss, metric, y, answer)
  loss <- found_loss$name
  remark <- NULL
  if (!is_of_labels(loss) || is_of_one_class(loss)) {
    # What its own package takes for the positive class.
    declared <- first$declared
    if (is.null(positive) && length(answer$labels) == 2L &&
        isTRUE(declared$class %in% answer$labels)) {
      answer <- response(y, declared$class)
      remark <- paste0("The positive class is ", dQuote(declared$class, FALSE), ", ", declared$by,
                       ".")
    }
    if (!is.null(first$column) && !is_of_labels(loss))
      refuse_unnamed_class(answer, loss, paste0("column '", first$column, "' contains"))
  }
  positive <- or_else(answer$pos_label, answer$labels[length(answer$labels)])
  predictions <- Map(function(each, place) each$pred(loss, positive)[place], found, places)
  refuse_missing_in(predictions, "predictions")
  resamples <- levels(droplevels(first$resample))
  testing <- indicators(split(row, droplevels(first$resample)), length(y))
  learning <- if (is.null(learning)) 1L - testing else
    indicators(if (is.null(names(learning))) learning else learning[resamples], length(y))
  tested <- with_order(answer$values[row[order]], y, metric)
  fields <- call_python("resampled_losses", y = answer$values, tested = tested,
                        predictions = lapply(predictions, prediction_vector),
                        learning = learning, testing = testing,
                        pos_label = positive_of(answer, metric),
                        groups = as_labels(groups, length(y), "groups"),
                        remarks = in_one(remark, remark_on_costs(found_loss$asked)),
                        .more = found_loss$asked)
  new_losses(fields, name, answer$labels)
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
