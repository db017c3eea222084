# Metrics of folds that other packages made.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
truth <- factor(rep(c("ill", "well"), c(14, 26)))
rules <- data.frame(a = rep(c("ill", "well", "ill"), c(12, 25, 3)),
                    b = rep(c("ill", "well", "ill"), c(9, 26, 5)))

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
