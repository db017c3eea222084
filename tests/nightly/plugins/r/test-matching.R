# Which rows the losses of two learners are of, in objects of other packages.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
two <- droplevels(subset(iris, Species != "setosa"))[seq(2, 100, 2),
                                                     c("Sepal.Length", "Sepal.Width", "Species")]
testing <- split(seq_len(nrow(two)), rep_len(1:3, nrow(two)))

# What caret::train() returns, as far as it is read, for these rows and folds.
caret_fit <- function(data, predicted, testing, outcome = "Species") {
  index <- lapply(testing, function(rows) setdiff(seq_len(nrow(data)), rows))
  names(index) <- names(testing) <- paste0("Fold", seq_along(testing))
  pred <- do.call(rbind, lapply(names(testing), function(fold) data.frame(
    pred = predicted[testing[[fold]]], obs = data[[outcome]][testing[[fold]]],
    rowIndex = testing[[fold]], Resample = fold)))
  kept <- data
  names(kept)[names(kept) == outcome] <- ".outcome"
  structure(list(pred = pred, trainingData = kept, control = list(index = index),
                 bestTune = data.frame(parameter = "none"), method = "rule"), class = "train")
}
by_length <- function(data) factor(ifelse(data$Sepal.Length > 6, "virginica", "versicolor"),
                                   levels(data$Species))
by_width <- function(data) factor(ifelse(data$Sepal.Width > 2.9, "virginica", "versicolor"),
                                  levels(data$Species))

test_that("learning sets are compared too", {
  first <- caret_fit(two, by_length(two), testing)
  second <- caret_fit(two, by_width(two), testing)
  second$control$index[[2]] <- second$control$index[[2]][-1]
  expect_match(message_of(as_losses(list(a = first, b = second))), "other splits")
})

test_that("tables of tune whose truths differ are refused", {
  table <- data.frame(id = rep(c("Fold1", "Fold2"), each = 5), .row = 1:10,
                      .pred_class = factor(rep(c("no", "yes"), 5)),
                      ill = factor(rep(c("no", "yes"), c(4, 6))))
  moved <- transform(table, ill = rev(ill))
  pair <- function(a, b, truth) message_of(as_losses(list(a = a, b = b), truth = truth))
  expect_match(pair(table, moved, "ill"),
               "learners a and b have other truths for the same rows, the first in row 1")
  numbers <- data.frame(id = table$id, .row = 1:10, .pred = 0, cost = c(1:9, 12) / 3)
  expect_match(pair(numbers, transform(numbers, cost = rev(cost)), "cost"), "other truths")
})

test_that("tasks of mlr3 with other truths are refused", {
  of_task <- function(truth) structure(class = c("ResampleResult", "R6"), list(
    predictions = function() list(list(row_ids = 1:4, truth = truth[1:4], response = truth[1:4]),
                                  list(row_ids = 5:8, truth = truth[5:8], response = truth[5:8])),
    learner = list(id = "rule"),
    task = list(id = "task", row_ids = 1:8, truth = function() truth),
    resampling = list(train_set = function(i) list(5:8, 1:4)[[i]])))
  truth <- factor(rep(c("no", "yes"), c(3, 5)))
  expect_match(message_of(as_losses(list(a = of_task(truth), b = of_task(rev(truth))))),
               "learners a and b learnt from other responses")
})

test_that("curves of pROC are matched by the names of their predictors", {
  skip_if_not_installed("pROC")
  skip_without_python()
  pima <- MASS::Pima.te
  glucose <- stats::setNames(pima$glu, rownames(pima))
  bmi <- stats::setNames(pima$bmi, rownames(pima))
  moved <- nrow(pima):1
  curve <- function(rows, score, ...)
    pROC::roc(pima$type[rows], score[rows], direction = "<", quiet = TRUE, ...)
  rows <- seq_len(nrow(pima))
  expected <- as_losses(list(a = curve(rows, glucose), b = curve(rows, bmi)))
  matched <- as_losses(list(a = curve(rows, glucose), b = curve(moved, bmi)))
  expect_equal(delong_learners_test(matched)$p.value, delong_learners_test(expected)$p.value)
})

test_that("curves of pROC that cannot be matched are refused", {
  skip_if_not_installed("pROC")
  pima <- MASS::Pima.te
  curve <- function(score, truth = pima$type, ...) pROC::roc(truth, score, quiet = TRUE, ...)
  pair <- function(a, b) message_of(as_losses(list(a = a, b = b)))
  first <- curve(pima$glu)
  expect_match(pair(first, curve(pima$bmi, levels = c("Yes", "No"))),
               "ROC curves a and b have other cases: Yes and No")
  expect_match(pair(first, curve(pima$bmi, rev(pima$type))), "different responses")
  # Each lacks the value of another patient, and both patients are well.
  without <- function(score, row) replace(score, which(pima$type == "No")[row], NA)
  expect_match(pair(curve(without(pima$glu, 1)), curve(without(pima$bmi, 2))),
               "are of different observations")
})

test_that("partial areas and curves without scores are refused", {
  skip_if_not_installed("pROC")
  pima <- MASS::Pima.te
  whole <- pROC::roc(pima$type, pima$glu, quiet = TRUE)
  part <- pROC::roc(pima$type, pima$glu, quiet = TRUE, partial.auc = c(1, 0.9))
  expect_match(message_of(as_losses(part)),
               "ROC curve score has a partial area (partial.auc = c(1, 0.9))", fixed = TRUE)
  sensitive <- pROC::roc(pima$type, pima$bmi, quiet = TRUE, partial.auc = c(1, 0.8),
                         partial.auc.focus = "sensitivity", percent = FALSE)
  expect_match(message_of(as_losses(list(a = whole, b = sensitive))), "ROC curve b has a partial area")
  expect_match(message_of(as_losses(pROC::smooth(whole))), "keeps no score of any observation")
  expect_match(message_of(as_losses(list(a = whole, b = pROC::smooth(whole)))), "keeps no score")
  several <- pROC::multiclass.roc(iris$Species, iris$Sepal.Width, quiet = TRUE)
  expect_match(message_of(as_losses(several)), "pROC::roc\\(levels = \\) made of two classes")
})
