# Splits of caret that leave rows untested, draw them twice, or differ in size.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
pima <- MASS::Pima.tr[1:187, c("glu", "bmi", "type")]
corrected_t <- function(differences, n_test, n_learn) {
  size <- length(differences)
  error <- sqrt((1 / size + n_test / n_learn) * var(differences))
  c(mean(differences), error, 2 * pt(-abs(mean(differences) / error), size - 1))
}
of <- function(result) c(unname(result$estimate), result$stderr, result$p.value)

test_that("folds that caret makes class by class are taken, and their unevenness is noted", {
  skip_if_not_installed("caret")
  skip_without_python()
  set.seed(1)
  folds <- caret::createFolds(pima$type, 10, returnTrain = TRUE)
  tested <- lapply(folds, function(rows) setdiff(1:187, rows))
  expect_gt(diff(range(lengths(tested))), 1)
  control <- caret::trainControl("cv", index = folds, savePredictions = "final")
  fit <- function(method) caret::train(type ~ ., pima, method = method, trControl = control)
  trained <- list(lda = fit("lda"), logistic = fit("glm"))
  ours <- corrected_t_test(as_losses(trained))
  wrong <- lapply(trained, function(fit) tapply(fit$pred$pred != fit$pred$obs, fit$pred$Resample, mean))
  expect_equal(of(ours), corrected_t(as.vector(wrong$lda - wrong$logistic), 18.7, 168.3))
  expect_match(ours$notes, "test sets have 18 to 20 observations", all = FALSE)
  by_design <- corrected_t_test(type ~ ., pima, "lda", "knn:5", design = tested)
  expect_equal(of(by_design), of(corrected_t_test(type ~ ., pima, "lda", "knn:5",
                                                  design = own_folds(learning = folds))))
  expect_match(message_of(corrected_t_test(type ~ ., pima, "lda", design = folds)),
               "look like learning sets .*own_folds\\(learning = \\)")
  expect_match(message_of(corrected_t_test(type ~ ., pima, "lda", design = list(1:20, 21:90, 91:187))),
               "between 20 and 97 observations; .* of about one size")
})

test_that("random splits, one split and leave-one-out enter, and the bootstrap does not", {
  skip_if_not_installed("caret")
  skip_without_python()
  set.seed(1)
  trained <- function(...) caret::train(
    type ~ ., pima, method = "lda", trControl = caret::trainControl(..., savePredictions = "final"))
  random <- trained("LGOCV", number = 5, p = 0.9)
  losses <- as_losses(random)
  expect_equal(c(losses$n_obs, losses$n_resamples), c(187L, 5L))
  wrong <- tapply(random$pred$pred != random$pred$obs, random$pred$Resample, mean)
  expect_equal(unname(losses$means[1, ]), as.vector(wrong))
  n_test <- table(random$pred$Resample)[[1]]
  against <- corrected_t_test(losses, null_value = 0.3)
  expect_equal(of(against)[2:3], corrected_t(as.vector(wrong) - 0.3, n_test, 187 - n_test)[2:3])
  single <- trained("LOOCV")
  expect_equal(as_losses(single)$n_resamples, 187L)
  expect_equal(mean(as_losses(single)$means), mean(single$pred$pred != single$pred$obs))
  expect_match(message_of(as_losses(trained("boot", number = 3))), "bootstrap samples.*trainControl")
})

test_that("resamples of caret are random splits, and no bootstrap samples by the same names", {
  skip_if_not_installed("caret")
  skip_without_python()
  resampled <- function(method) {
    trained <- function() {
      set.seed(1)
      caret::train(type ~ glu + bmi, pima, method = "lda",
                   trControl = caret::trainControl(method, number = 6, p = 0.9))
    }
    caret::resamples(list(a = trained(), b = trained()))
  }
  refused <- "these are bootstrap samples.*trainControl"
  drawn <- resampled("boot")
  expect_match(message_of(as_losses(drawn)),
               "names as bootstrap samples, which are refused: give n_learn =")
  expect_match(message_of(as_losses(drawn, n = 187)), refused)
  expect_match(message_of(as_losses(drawn, n_learn = 187, n_test = 70)), "and n = nrow")
  expect_match(message_of(as_losses(drawn, n = 187, n_learn = 187, n_test = 70)), refused)
  expect_match(message_of(as_losses(drawn, n = 187, n_learn = 117, n_test = 70)), refused)
  random <- resampled("LGOCV")
  expect_match(message_of(as_losses(random, n = 187)), "give n_learn = and n_test =, and n =")
  losses <- as_losses(random, n = 187, n_learn = 169, n_test = 18)
  expect_equal(c(losses$n_obs, losses$n_resamples), c(187L, 6L))
  folds <- resampled("cv")
  expect_match(message_of(as_losses(folds, n = 187, n_learn = 180, n_test = 18)),
               "198 together, and n = 187")
  expect_match(message_of(as_losses(folds, n = "187")), "'n' must be a number of observations, got 187")
})

test_that("splits of rsample may leave rows untested", {
  skip_if_not_installed("rsample")
  skip_without_python()
  set.seed(1)
  splits <- rsample::mc_cv(pima, 0.8, 4)
  testing <- lapply(splits$splits, function(split) setdiff(1:187, split$in_id))
  collected <- do.call(rbind, lapply(1:4, function(i) data.frame(
    id = splits$id[i], .row = testing[[i]], type = pima$type[testing[[i]]],
    .pred_class = factor("No", c("No", "Yes")))))
  losses <- as_losses(collected, truth = "type", splits = splits)
  expect_equal(losses$n_obs, 187L)
  expect_equal(losses$means[1, ], vapply(testing, function(rows) mean(pima$type[rows] == "Yes"), 1))
  expect_match(message_of(as_losses(collected, truth = "type")),
               "never tested, and it is not known .* give splits =")
  # By row numbers alone the truth of untested rows is not known, and not needed.
  by_rows <- as_losses(collected, truth = "type", splits = lapply(splits$splits, `[[`, "in_id"))
  expect_equal(by_rows$means, losses$means)
  collected$id <- "Bootstrap1"
  expect_match(message_of(as_losses(collected, truth = "type")), "bootstrap samples")
  set.seed(1)
  half <- rsample::initial_split(pima, 0.5)
  once <- hold_out_test(type ~ ., pima, "lda", design = half)
  expect_equal(once$settings$learn_size, length(half$in_id))
  in_time <- hold_out_test(type ~ ., pima, "lda",
                           design = rsample::initial_time_split(pima, 0.6))
  expect_equal(in_time$settings$learn_size, 112L)
  expect_match(message_of(hold_out_test(type ~ ., pima, "lda", design = rsample::bootstraps(pima, 2))),
               "bootstrap samples")
  expect_match(message_of(own_folds()), "'testing' or 'learning' must be a list")
})
