# Which rows the losses of two learners are of: matched by name, compared by truth, or refused.
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
shuffled <- c(50:26, 1:25)
unnamed <- function(data) {
  rownames(data) <- NULL
  data
}
errors <- function(losses) rowMeans(losses$means)

test_that("fits of caret on the same patients in another order are matched by the names of rows", {
  skip_without_python()
  same <- as_losses(list(a = caret_fit(two, by_length(two), testing),
                         b = caret_fit(two, by_width(two), testing)))
  other <- two[shuffled, ]
  moved <- lapply(testing, match, shuffled)
  matched <- as_losses(list(a = caret_fit(two, by_length(two), testing),
                            b = caret_fit(other, by_width(other), moved)))
  expect_equal(matched$means, same$means)
})

test_that("fits of caret that cannot be matched are refused", {
  other <- two[shuffled, ]
  pair <- function(first, second, folds = testing) message_of(as_losses(list(
    a = caret_fit(first, by_length(first), testing),
    b = caret_fit(second, by_width(second), folds))))
  # The same numbers of rows are other patients.
  expect_match(pair(two, other), "learner b has other splits than a")
  expect_match(pair(unnamed(two), unnamed(other)), "have the same rows in another order")
  relabelled <- unnamed(two)
  relabelled$Species <- rev(relabelled$Species)
  expect_match(pair(unnamed(two), relabelled), "learners a and b have the same rows in another order")
  relabelled$Species[1:3] <- "versicolor"
  expect_match(pair(unnamed(two), relabelled), "learnt from other responses")
  renamed <- two
  rownames(renamed)[2] <- "somebody else"
  expect_match(pair(two, renamed), "are of different rows, such as the row named somebody else")
  # Equal labels hide that the rows were moved inside a class.
  inside <- unnamed(two[c(25:1, 26:50), ])
  expect_identical(inside$Species, unnamed(two)$Species)
  expect_match(pair(unnamed(two), inside), "have the same rows in another order")
})

test_that("scaled columns are no rows in another order", {
  skip_without_python()
  scaled <- unnamed(two)
  scaled[1:2] <- scale(scaled[1:2])
  fits <- list(a = caret_fit(unnamed(two), by_length(two), testing),
               b = caret_fit(scaled, by_width(two), testing))
  expect_equal(unname(errors(as_losses(fits))), c(mean(by_length(two) != two$Species),
                                                 mean(by_width(two) != two$Species)),
               tolerance = 0.02)
})

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

test_that("lists refuse the arguments that no element takes", {
  fit <- structure(list(pred = data.frame()), class = "train")
  curve <- structure(list(), class = "roc")
  table <- data.frame(.row = 1:4, y = 1:4, .pred = 1:4, id = "Fold1")
  unknown <- function(name) paste0("unknown argument '", name, "': see ?as_losses")
  expect_equal(message_of(as_losses(curve, positive = "No")), unknown("positive"))
  curves <- list(glu = curve, age = curve)
  expect_equal(message_of(as_losses(curves, positive = "No")), unknown("positive"))
  expect_equal(message_of(as_losses(curves, loss = "brier")), unknown("loss"))
  expect_equal(message_of(as_losses(curves, pos_label = 1, truth = "y")),
               "unknown argument 'pos_label', 'truth': see ?as_losses")
  expect_equal(message_of(as_losses(curves, metric = "f1")), unknown("metric"))
  expect_equal(message_of(as_losses(fit, scoring = "auc")), unknown("scoring"))
  expect_equal(message_of(as_losses(list(a = fit, b = fit), scoring = "auc")), unknown("scoring"))
  expect_equal(message_of(as_losses(list(a = fit, b = fit), splits = 1)), unknown("splits"))
  expect_equal(message_of(as_losses(list(a = table, b = table), truth = "y", lerner = "a")),
               unknown("lerner"))
  expect_match(message_of(as_losses(list(a = fit), NULL, NULL, NULL, NULL, NULL, 1)), "^too many arguments")
})

test_that("names of rows have to agree where two arguments have them", {
  skip_without_python()
  risk <- data.frame(a = two$Sepal.Length / 8, b = two$Sepal.Width / 5)
  id <- paste0("r", seq_len(nrow(two)))
  named <- function(values) setNames(values, id)
  of <- function(y, predictions, ...)
    prediction_losses(y, predictions, loss = "brier", positive = "virginica", ...)$means
  plain <- of(two$Species, risk)
  with_names <- structure(risk, row.names = id)
  expect_equal(of(named(two$Species), with_names), plain)
  # Names on one side, row numbers, and names that repeat say nothing.
  expect_equal(of(two$Species, with_names), plain)
  expect_equal(of(setNames(two$Species, seq_along(id)), with_names), plain)
  expect_equal(of(setNames(two$Species, 100 + seq_along(id)), with_names), plain)
  expect_equal(of(setNames(two$Species, two$Species), with_names), plain)
  another <- "have the same names of rows in another order, but rows are matched by position: "
  expect_match(message_of(of(named(two$Species), with_names[shuffled, ])),
               paste0("'y' and 'predictions' ", another, ".* as by rownames\\(predictions\\) <- NULL"))
  expect_match(message_of(of(named(two$Species), as.matrix(with_names)[shuffled, ])), another)
  expect_match(message_of(of(named(two$Species), list(a = named(risk$a)[shuffled]))),
               paste0("'y' and 'predictions\\$a' ", another))
  # Row numbers that are in another order are names, with a response that has none.
  moved <- data.frame(a = risk$a)[shuffled, , drop = FALSE]
  expect_match(message_of(of(two$Species, moved)), paste0("'y' and 'predictions' ", another))
  expect_match(message_of(of(setNames(two$Species, shuffled), data.frame(a = risk$a))),
               paste0("'predictions' and 'y' ", another))
  for (argument in c("groups", "weights", "fold")) {
    other <- structure(list(named(seq_along(id) %% 4 + 1)[shuffled]), names = argument)
    expect_match(message_of(do.call(of, c(list(two$Species, with_names), other))),
                 paste0("'predictions' and '", argument, "' ", another))
  }
  expect_match(message_of(of(setNames(two$Species, paste0("q", id)), with_names)),
               "'y' and 'predictions' have different names of rows")
  # sapply() names groups by what they were made from.
  expect_equal(of(named(two$Species), with_names, groups = setNames(seq_along(id) %% 4, paste0("q", id))),
               of(two$Species, with_names, groups = seq_along(id) %% 4))
  right <- list(a = named(risk$a > .7), b = named(risk$b > .6)[shuffled])
  expect_match(message_of(correct_losses(right)), paste0("'correct\\$a' and 'correct\\$b' ", another))
  scores <- list(a = c(one = .5, two = .6), b = c(two = .5, one = .6))
  expect_match(message_of(score_losses(scores, 10, 10)), paste0("'scores\\$a' and 'scores\\$b' ", another))
  expect_match(message_of(hold_out_test(with_names, named(two$Species)[shuffled], "lda")),
               paste0("'x' and 'y' ", another))
})
