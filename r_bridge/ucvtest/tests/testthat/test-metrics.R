# Metrics such as F1 and R2: their values by hand, names of yardstick, and what is refused.
truth <- factor(rep(c("ill", "well"), c(14, 26)))
rules <- data.frame(a = rep(c("ill", "well", "ill"), c(12, 25, 3)),
                    b = rep(c("ill", "well", "ill"), c(9, 26, 5)))

test_that("values are those of the formulas", {
  skip_without_python()
  f1 <- function(p) 2 * sum(p == "ill" & truth == "ill") / (sum(p == "ill") + sum(truth == "ill"))
  losses <- prediction_losses(truth, rules, metric = "f1", positive = "ill")
  expect_output(print(losses), "metric:  f1 \\(F1\\)")
  result <- hold_out_test(losses)
  expect_equal(result$tables$Learners$estimate, unname(vapply(rules, f1, 0)))
  expect_equal(unname(result$estimate), f1(rules$a) - f1(rules$b))
  expect_s3_class(result, "htest")
  expect_match(names(result$estimate), "difference in F1")
  expect_match(methods_text(result), "the score is f1")
  both <- compare_learners(losses, "hold_out", metric = c("kap", "mcc"))
  expect_equal(both$test, c("kappa", "mcc"))
  expect_match(message_of(compare_learners(prediction_losses(truth, rules), metric = "kap")),
               "these losses keep no predictions: make them with metric = ")
  one <- hold_out_test(losses, "a")
  expect_true(one$conf.int[1] > 0 && one$conf.int[2] <= 1)
  y <- c(1.5, 2.5, 4, 3.5, 6, 7.5)
  p <- data.frame(p = c(1, 3, 4.5, 3, 5.5, 8))
  r2 <- hold_out_test(prediction_losses(y, p, metric = "rsq_trad"))
  expect_equal(unname(r2$estimate), 1 - sum((y - p$p)^2) / sum((y - mean(y))^2))
})

test_that("names of yardstick mean what its manual says", {
  skip_without_python()
  cell <- table(truth, factor(rules$a, levels(truth)))
  n <- sum(cell)
  sens <- cell[1, 1] / sum(cell[1, ])
  spec <- cell[2, 2] / sum(cell[2, ])
  by_chance <- sum(rowSums(cell) * colSums(cell)) / n^2
  expected <- c(sens = sens, sensitivity = sens, spec = spec, ppv = cell[1, 1] / sum(cell[, 1]),
                npv = cell[2, 2] / sum(cell[, 2]), bal_accuracy = (sens + spec) / 2,
                kap = (sum(diag(cell)) / n - by_chance) / (1 - by_chance))
  found <- vapply(names(expected), function(name) unname(hold_out_test(
    prediction_losses(truth, rules["a"], metric = name, positive = "ill"))$estimate), 0)
  expect_equal(found, expected)
})

test_that("what a metric cannot be is refused in words of R", {
  skip_without_python()
  of <- function(...) message_of(prediction_losses(truth, rules, ...))
  expect_match(of(metric = "f1"), "positive is missing: metric = \"f1\" is about one of two classes")
  expect_match(of(metric = "f1"), "pass positive = \"well\", or positive = \"ill\"")
  expect_match(of(metric = "f2"), "metric = \"f2\" is unknown")
  of_caret <- prediction_losses(truth, list(rule = seq_along(truth)), loss = "ROC", positive = "ill")
  expect_equal(of_caret$loss, "auc")
  expect_match(of(loss = "acuracy"), "did you mean 'accuracy', which stands for 'zero_one'?", fixed = TRUE)
  for (name in c("f1", "sens"))
    expect_match(of(loss = name), paste0("not a mean over observations: (pass|write) metric = \"", name))
  expect_match(of(metric = "f1", loss = "zero_one"), "'loss' and 'metric' exclude each other")
  expect_match(of(metric = "r2"), "metric = \"r2\" needs numbers, but y contains labels")
  expect_match(of(metric = "rsq"), "the squared correlation: use \"pearson\"")
  expect_match(of(metric = mean), "'metric' must be the name of a metric, .* as 'scoring'")
  expect_match(of(metric = c("f1", "mcc")), "'metric' must be the name of a metric")
  expect_match(message_of(hold_out_test(mtcars["wt"], mtcars$mpg, "ridge", metric = mean)),
               "'metric' must be the name of a metric")
  expect_match(of(metric = "mcc", weights = rep(1, 40)), "but metric = \"mcc\" is a function of means")
  expect_match(message_of(prediction_losses(truth, rules, metric = 'recall["ill"]', positive = "well")),
               "positive = \"well\" is not the class that metric = ")
  expect_silent(prediction_losses(truth == "ill", rules == "ill", metric = 'recall["FALSE"]'))
  sensitivity <- function(name)
    prediction_losses(truth, rules, metric = name, positive = "ill")$means
  expect_equal(sensitivity("Sens"), sensitivity("recall"))
  expect_equal(sensitivity("Spec"), sensitivity("specificity"))
  expect_equal(sensitivity("F"), sensitivity("f1"))
  expect_match(of(metric = "j_index"), "use 'balanced_accuracy'")
  area <- prediction_losses(truth, list(rule = seq_along(truth)), metric = "auc", positive = "ill")
  expect_match(message_of(hold_out_test(area)), "^'auc' keeps decision scores")
  expect_output(print(compare_learners(prediction_losses(truth, data.frame(rules, b = "ill"), metric = "mcc"))),
                "\nmetric:  mcc\n")
  expect_match(of(metric = "brier_skill"), "'positive' is missing: 'predictions\\$a' contains a score")
  expect_match(message_of(mcnemar_learners_test(prediction_losses(truth, rules, metric = "mcc"))),
               "not for mcnemar_learners_test\\(\\): use ustat_test")
  three <- factor(rep(c("low", "mid", "high"), 8), levels = c("low", "mid", "high"))
  guess <- data.frame(p = rep(c("low", "mid", "mid"), 8))
  several <- function(metric) message_of(prediction_losses(three, guess, metric = metric))
  expect_match(several("f1"), "name one, as in 'f1\\[\"ill\"\\]', or an average, as in \"f1_macro\"")
  expect_match(several("f_meas"), "yardstick has another number: use \"f1_macro\"")
  no_order <- "'y' does not declare one: give factor\\(y, levels = , ordered = TRUE\\)"
  expect_match(several("kappa_linear"), no_order)
  # Levels that happen to be in the order of the alphabet declare none either.
  expect_match(message_of(prediction_losses(as.character(three), guess, metric = "kappa_linear")), no_order)
  places <- list(p = as.integer(factor(guess$p, levels(three))))
  by_places <- prediction_losses(as.integer(three), places, metric = "kappa_linear")
  by_levels <- prediction_losses(factor(three, ordered = TRUE), guess, metric = "kappa_linear")
  expect_equal(by_levels$means, by_places$means)
  x <- cbind(seq_along(three), rev(seq_along(three)))
  expect_match(message_of(evaluate_learners(x, three, "knn:3", metric = "kappa_linear")), no_order)
  means <- function(y) evaluate_learners(x, y, c("knn:3", "nearest_centroid"), 4, metric = "kappa_linear")$means
  set.seed(1)
  levels_known <- means(factor(three, ordered = TRUE))
  set.seed(1)
  expect_equal(levels_known, means(as.integer(three)))
  expect_no_error(prediction_losses(three, guess, metric = "f1_macro"))
  expect_no_error(prediction_losses(three, guess, metric = 'recall["mid"]'))
})

test_that("folds of other packages have metrics too", {
  skip_without_python()
  folds <- data.frame(truth, rules, fold = rep(1:4, 10), .positive = "ill")
  losses <- as_losses(folds, truth = "truth", predictions = c("a", "b"), fold = "fold",
                      metric = "f1", positive = "ill")
  fixed <- hold_out_test(prediction_losses(truth, rules, metric = "f1", positive = "ill"))
  # Parts are pooled over the folds.
  pooled <- tapply(losses$means, row(losses$means), mean)
  expect_equal(as.vector(pooled), fixed$tables$Learners$estimate)
  expect_equal(unname(corrected_t_test(losses)$estimate), unname(fixed$estimate))
  numbers <- data.frame(truth = iris$Petal.Width, p = iris$Petal.Length / 3, fold = rep(1:5, 30))
  r2 <- as_losses(numbers, truth = "truth", predictions = "p", fold = "fold", metric = "r2")
  of_numbers <- function(metric, truth = "truth", ...) message_of(as_losses(
    numbers, truth = truth, predictions = "p", fold = "fold", metric = metric, ...))
  numbers$setosa <- iris$Species == "setosa"
  for (metric in c("average_precision", "partial_auc(0.1)"))
    expect_match(of_numbers(metric, "setosa"), "is not for learners that are fitted on folds")
  for (metric in c("pearson", "ccc"))
    expect_match(of_numbers(metric), "is not for predictions out of several folds")
  expect_equal(mean(r2$means), 1 - sum((numbers$truth - numbers$p)^2) /
                 sum((numbers$truth - mean(numbers$truth))^2))
  skip_if_not_installed("caret")
  index <- caret::createFolds(y, 4, returnTrain = TRUE)
  fit <- caret::train(x, y, method = "lda", trControl = caret::trainControl(
    "cv", index = index, savePredictions = "final", classProbs = TRUE))
  of_caret <- as_losses(fit, metric = "f_meas")
  expect_match(of_caret$remarks, "The positive class is \"virginica\", the first level, as caret")
  kept <- fit$pred
  hits <- sum(kept$pred == "virginica" & kept$obs == "virginica")
  expect_equal(weighted.mean(as.vector(of_caret$means), as.vector(table(kept$Resample))),
               2 * hits / (sum(kept$pred == "virginica") + sum(kept$obs == "virginica")))
})

test_that("learners are compared by a metric", {
  skip_without_python()
  set.seed(1)
  compared <- hold_out_test(x, y, "lda", "knn:5", metric = "mcc")
  expect_match(names(compared$estimate), "Matthews")
  scored <- evaluate_learners(x, y, c("lda", "knn:5"), metric = "mcc")
  expect_output(print(scored), "metric:  mcc")
})

test_that("caret's names of metrics are known, and what is no loss says so", {
  skip_without_python()
  error <- function(...) {
    set.seed(1)
    unname(hold_out_test(mpg ~ wt, mtcars, "ridge:1", ...)$estimate)
  }
  expect_equal(error(metric = "RMSE"), error(metric = "rmse"))
  expect_equal(error(metric = "MAE"), error(loss = "mae"))
  expect_equal(error(loss = "MAE"), error(loss = "mae"))
  expect_equal(message_of(error(loss = "RMSE")), paste(
    "'loss' is \"RMSE\", which is not a mean over observations: write metric = \"rmse\" in tests that",
    "take metrics, see ?metrics, or loss = \"squared\" for its square"))
  expect_match(message_of(error(metric = "Rsquared")), "is \"Rsquared\", the squared correlation")
})

test_that("ordered factors are scores, and labels are not", {
  skip_without_python()
  truth <- factor(rep(c("ill", "well"), c(30, 20)))
  grade <- factor(rep(c("high", "mid", "low", "mid"), c(20, 10, 15, 5)), c("low", "mid", "high"))
  area <- function(grade)
    prediction_losses(truth, list(grade = grade), "auc", positive = "ill")$means[[1L]]
  expect_equal(area(ordered(grade)), area(as.integer(grade)))
  expect_equal(message_of(area(grade)), paste(
    "column 'grade' of 'predictions' contains labels, and \"auc\" goes by the order of scores: give",
    "numbers, or an ordered factor, lowest level first, as by factor(levels = , ordered = TRUE)"))
})
