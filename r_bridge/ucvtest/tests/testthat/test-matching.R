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
  pair <- function(first, second) as_losses(list(
    a = caret_fit(first, by_length(first), testing),
    b = caret_fit(second, by_width(second), testing)))
  relabelled <- unnamed(two)
  relabelled$Species <- rev(relabelled$Species)
  learnt <- transform(relabelled, Species = replace(Species, 1:3, "versicolor"))
  renamed <- two
  rownames(renamed)[2] <- "somebody else"
  # Equal labels hide that the rows were moved inside a class.
  inside <- unnamed(two[c(25:1, 26:50), ])
  expect_identical(inside$Species, unnamed(two)$Species)
  expect_refused(
    # The same numbers of rows are other patients.
    pair(two, other) ~ "learner b has other splits than a",
    pair(unnamed(two), unnamed(other)) ~ "have the same rows in another order",
    pair(unnamed(two), relabelled) ~ "learners a and b have the same rows in another order",
    pair(unnamed(two), learnt) ~ "learnt from other responses",
    pair(two, renamed) ~ "are of different rows, such as the row named somebody else",
    pair(unnamed(two), inside) ~ "have the same rows in another order")
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

test_that("lists refuse the arguments that no element takes", {
  fit <- structure(list(pred = data.frame(), method = "rpart"), class = "train")
  curve <- structure(list(), class = "roc")
  table <- data.frame(.row = 1:4, y = 1:4, .pred = 1:4, id = "Fold1")
  curves <- list(glu = curve, age = curve)
  unknown <- function(name) paste0("^unknown argument '", name, "': see \\?as_losses$")
  expect_refused(
    as_losses(curve, positive = "No") ~ unknown("positive"),
    as_losses(curves, positive = "No") ~ unknown("positive"),
    as_losses(curves, loss = "brier") ~ unknown("loss"),
    as_losses(curves, pos_label = 1, truth = "y") ~ unknown("pos_label', 'truth"),
    as_losses(curves, metric = "f1") ~ unknown("metric"),
    as_losses(fit, scoring = "auc") ~ unknown("scoring"),
    as_losses(list(a = fit, b = fit), scoring = "auc") ~ unknown("scoring"),
    as_losses(list(a = fit, b = fit), splits = 1) ~ unknown("splits"),
    as_losses(list(a = table, b = table), truth = "y", lerner = "a") ~ unknown("lerner"),
    as_losses(list(a = fit), NULL, NULL, NULL, NULL, NULL, 1) ~ "^too many arguments")
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
  # sapply() names groups by what they were made from.
  expect_equal(of(named(two$Species), with_names, groups = setNames(seq_along(id) %% 4, paste0("q", id))),
               of(two$Species, with_names, groups = seq_along(id) %% 4))
  another <- function(one, two) paste0(
    "'", one, "' and '", two, "' have the same names of rows in another order, but rows are matched by position: ")
  # Row numbers that are in another order are names, with a response that has none.
  moved <- data.frame(a = risk$a)[shuffled, , drop = FALSE]
  fourths <- named(seq_along(id) %% 4 + 1)[shuffled]
  right <- list(a = named(risk$a > .7), b = named(risk$b > .6)[shuffled])
  scores <- list(a = c(one = .5, two = .6), b = c(two = .5, one = .6))
  others <- setNames(two$Species, paste0("q", id))
  expect_refused(
    of(named(two$Species), with_names[shuffled, ]) ~ paste0(another("y", "predictions"), ".*rownames\\(pred"),
    of(named(two$Species), as.matrix(with_names)[shuffled, ]) ~ another("y", "predictions"),
    of(named(two$Species), list(a = named(risk$a)[shuffled])) ~ another("y", "predictions\\$a"),
    of(two$Species, moved) ~ another("y", "predictions"),
    of(setNames(two$Species, shuffled), data.frame(a = risk$a)) ~ another("predictions", "y"),
    of(two$Species, with_names, groups = fourths) ~ another("predictions", "groups"),
    of(two$Species, with_names, weights = fourths) ~ another("predictions", "weights"),
    of(two$Species, with_names, fold = fourths) ~ another("predictions", "fold"),
    of(others, with_names) ~ "'y' and 'predictions' have different names of rows",
    correct_losses(right) ~ another("correct\\$a", "correct\\$b"),
    score_losses(scores, 10, 10) ~ another("scores\\$a", "scores\\$b"),
    hold_out_test(with_names, named(two$Species)[shuffled], "lda") ~ another("x", "y"))
})
