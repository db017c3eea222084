# Scores that are names or functions, and time as a limit.
pima <- MASS::Pima.tr[1:187, c("glu", "bmi", "type")]
of <- function(result) c(unname(result$estimate), result$stderr, result$p.value)

test_that("scores are names or functions, and greater is better", {
  skip_without_python()
  run <- function(...) {
    set.seed(1)
    corrected_t_test(type ~ ., pima, "lda", "knn:5", design = k_fold(3, stratify = TRUE), ...)
  }
  f1 <- function(truth, prediction) {
    expect_true(is.factor(truth) && is.factor(prediction))
    hits <- sum(truth == "Yes" & prediction == "Yes")
    2 * hits / (sum(truth == "Yes") + sum(prediction == "Yes"))
  }
  named <- run(scoring = "f1", positive = "Yes")
  expect_equal(of(run(scoring = f1)), of(named))
  expect_equal(c(named$better, names(named$estimate)),
               c("higher", paste("difference in mean f1 score when learning from",
                                 "124 or 125 observations (positive class 'Yes')")))
  own <- run(scoring = function(truth, prediction) mean(truth == prediction))
  expect_match(names(own$estimate), "mean score when learning")
  expect_equal(of(own)[3], of(run())[3])
  # The same question, in the units of the score, of which greater is better.
  score <- run(scoring = "neg_log_loss")
  lost <- run(loss = "log")
  expect_equal(c(score$estimate, score$p.value), c(-lost$estimate, lost$p.value),
               ignore_attr = TRUE)
  expect_equal(as.numeric(score$conf.int), -rev(as.numeric(lost$conf.int)))
  expect_equal(score$better, "higher")
  expect_refused(
    run(scoring = "f1", loss = "zero_one") ~ "exclude each other",
    run(scoring = 3) ~ "'scoring' must be the name of a score",
    run(scoring = "nothing") ~ "or a function\\(truth, prediction\\)$",
    run(scoring = function(truth, prediction) 1:2) ~ "must return one number",
    ustat_test(type ~ ., pima, "lda", scoring = "f1") ~ "one for each observation: use corrected_t_test\\(\\)")
  scored <- evaluate_learners(type ~ ., pima, c("lda", "knn:5"), scoring = "balanced_accuracy")
  expect_equal(scored$loss, "balanced_accuracy")
  compared <- compare_learners(type ~ ., pima, c("lda", "knn:5"), "corrected_t", scoring = "f1",
                               positive = "Yes")
  expect_equal(glance(compared)$loss, "f1")
})

test_that("time is a limit where draws go on until they suffice", {
  skip_without_python()
  expect_match(message_of(ustat_test(type ~ ., pima, "lda", n_pairs = 100, max_seconds = 3)),
               "max_seconds does not apply with n_pairs = 100")
  compared <- compare_learners(type ~ ., pima, c("lda", "knn:5"), "corrected_t", max_seconds = 600)
  expect_equal(compared$status, "ok")
  timed <- list(list("corrected_t", max_seconds = 3))
  expect_match(message_of(compare_learners(type ~ ., pima, c("lda", "knn:5"), timed)),
               "has no option")
  found <- ustat_test(type ~ ., pima, "lda", max_seconds = 600, tol = 0.5)
  expect_equal(found$settings$max_seconds, 600L)
})
