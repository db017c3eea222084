# What other packages take for the positive class is kept, and said.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
pima <- MASS::Pima.te
truth <- as.character(pima$type)
area <- function(losses) delong_learners_test(losses, 1)$estimate[[1]]

test_that("what caret, yardstick and mlr3 take for the positive class is kept and said", {
  skip_without_python()
  fit <- structure(class = "train", list(
    pred = data.frame(obs = factor(rep(c("a", "b"), 6)), a = (1:12) / 13, b = 1 - (1:12) / 13,
                      rowIndex = 1:12, Resample = rep(c("Fold1", "Fold2"), each = 6)),
    control = list(index = list(Fold1 = 7:12, Fold2 = 1:6)), method = "rule",
    trainingData = data.frame(.outcome = factor(rep(c("a", "b"), 6)))))
  losses <- as_losses(fit, loss = "auc")
  expect_equal(losses$positive, "a")
  expect_output(print(losses), "positive class:  a\nThe positive class is \"a\", the first level, as caret has it.")
  tested <- corrected_t_test(losses)
  expect_equal(tested$diagnostics$positive_class, "a")
  expect_true(any(grepl("the first level, as caret has it", tested$notes)))
  expect_output(print(summary(tested, notes = TRUE)), "as caret has it")
  expect_equal(as_losses(fit, loss = "auc", positive = "b")$positive, "b")
  expect_equal(as_losses(fit, loss = "auc", positive = "b")$means, losses$means)
  table <- data.frame(id = rep(c("Fold1", "Fold2"), each = 6), .row = 1:12, .pred_a = (1:12) / 13,
                      .pred_b = 1 - (1:12) / 13, obs = factor(rep(c("a", "b"), 6)))
  of_table <- function() as_losses(table, truth = "obs", loss = "brier")
  expect_equal(of_table()$positive, "a")
  before <- options(yardstick.event_first = FALSE)
  expect_equal(of_table()$positive, "b")
  expect_match(of_table()$remarks, "the second level, as options\\(yardstick.event_first = FALSE\\)")
  options(before)
  result <- structure(class = c("ResampleResult", "R6"), list(
    predictions = function() list(
      list(row_ids = 1:4, truth = fit$pred$obs[1:4], prob = as.matrix(fit$pred[1:4, c("a", "b")])),
      list(row_ids = 5:8, truth = fit$pred$obs[5:8], prob = as.matrix(fit$pred[5:8, c("a", "b")]))),
    learner = list(id = "rule"),
    task = list(id = "task", row_ids = 1:8, truth = function() fit$pred$obs[1:8], positive = "b"),
    resampling = list(train_set = function(i) list(5:8, 1:4)[[i]])))
  expect_match(as_losses(result, loss = "log")$remarks, "\"b\", as the task of mlr3 has it")
})

test_that("pROC's cases and directions are kept and said", {
  skip_if_not_installed("pROC")
  skip_without_python()
  low <- -pima$glu
  declared <- as_losses(pROC::roc(pima$type, low, direction = "<", quiet = TRUE))
  expect_lt(area(declared), 0.5)
  expect_equal(declared$positive, "Yes")
  expect_match(declared$remarks, "The positive class is \"Yes\", the cases of pROC.$")
  turned <- expect_silent(as_losses(pROC::roc(pima$type, low, direction = ">", quiet = TRUE)))
  expect_equal(area(turned), 1 - area(declared))
  expect_match(turned$remarks, "Low values of score mean \"Yes\", by the direction \">\"")
  expect_warning(as_losses(pROC::roc(pima$type, low, quiet = TRUE)), class = "ucvtest_direction",
                 "chose by the medians that low values of score mean \"Yes\"")
  expect_silent(as_losses(pROC::roc(pima$type, pima$glu, quiet = TRUE)))
})
