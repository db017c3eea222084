# Rules that others have judged: their numbers.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
pima <- MASS::Pima.te
pima$y <- as.numeric(pima$type == "Yes")

test_that("risks of riskRegression give its AUCs, Brier scores and standard errors", {
  skip_if_not_installed("riskRegression")
  skip_without_python()
  risk <- function(formula)
    predict(glm(formula, binomial, MASS::Pima.tr), pima, type = "response")
  score <- function(...) riskRegression::Score(
    list(model = risk(type ~ glu + bmi + age), age = risk(type ~ age)), formula = y ~ 1, data = pima,
    metrics = c("AUC", "Brier"), null.model = FALSE, se.fit = TRUE, ...)
  theirs <- score(summary = "risks")
  ours <- delong_learners_test(as_losses(theirs), interval = "wald")
  expect_equal(as.list(ours$tables$Learners[c("estimate", "se", "conf_low", "conf_high")]),
               as.list(theirs$AUC$score)[c("AUC", "se", "lower", "upper")], ignore_attr = TRUE)
  # Theirs is the second minus the first.
  expect_equal(c(-ours$estimate, ours$stderr, ours$p.value),
               unlist(theirs$AUC$contrasts[, c("delta.AUC", "se", "p")]), ignore_attr = TRUE)
  brier <- hold_out_test(as_losses(theirs, loss = "brier"))
  expect_equal(brier$tables$Learners[c("estimate", "se")],
               as.data.frame(theirs$Brier$score)[c("Brier", "se")], ignore_attr = TRUE)
  expect_equal(brier$stderr, theirs$Brier$contrasts$se)
  expect_match(message_of(as_losses(score())), "call it with summary = \"risks\"")
  theirs$response.type <- "survival"
  expect_match(message_of(as_losses(theirs)), "may be censored")
})

test_that("out-of-fold scores have an AUC within folds", {
  skip_without_python()
  set.seed(1)
  fold <- sample(rep(c("a", "b", "c", "d"), length.out = nrow(pima)))
  scores <- list(glucose = pima$glu, bmi = pima$bmi)
  losses <- prediction_losses(pima$type, scores, "auc", positive = "Yes", fold = factor(fold))
  ours <- cross_validation_wald_test(losses, "glucose")
  # By hand: the pairs of each fold.
  right <- 0
  pairs <- 0
  for (part in split(pima, fold)) {
    psi <- outer(part$glu[part$y == 1], part$glu[part$y == 0],
                 function(a, b) (a > b) + (a == b) / 2)
    right <- right + sum(psi)
    pairs <- pairs + length(psi)
  }
  expect_equal(unname(ours$estimate), right / pairs)
  expect_match(ours$method, "Cross-validation Wald test of the AUC")
  table <- data.frame(pima[c("type", "glu", "bmi")], fold)
  same <- as_losses(table, truth = "type", predictions = c(glucose = "glu", bmi = "bmi"),
                    fold = "fold", loss = "auc", positive = "Yes")
  expect_equal(cross_validation_wald_test(same, "glucose")$stderr, ours$stderr)
  expect_equal(corrected_t_test(same)$p.value, corrected_t_test(losses)$p.value)
  expect_match(message_of(prediction_losses(pima$type, scores, "auc", positive = "Yes",
                                            fold = 1:3)),
               "'fold' must be one label for each of 332 rows, got")
})

test_that("concordances and Brier scores of survival times are those of other packages", {
  skip_if_not_installed("survival")
  skip_without_python()
  lung <- na.omit(survival::lung[c("time", "status", "age", "ph.ecog", "inst")])
  times <- survival::Surv(lung$time, lung$status)
  rules <- data.frame(score = lung$ph.ecog, age = lung$age / 10)
  # Theirs divides by n, ours by n - 1.
  n <- nrow(lung)
  ours <- function(metric, ...) {
    found <- hold_out_test(prediction_losses(times, rules, metric = metric, ...))
    c(found$estimate, found$stderr)
  }
  theirs <- function(weights) {
    fits <- lapply(rules, function(rule)
      survival::concordance(times ~ rule, reverse = TRUE, timewt = weights, influence = 1))
    c(coef(fits$score) - coef(fits$age),
      sqrt(sum((fits$score$dfbeta - fits$age$dfbeta)^2) * n / (n - 1)))
  }
  expect_equal(ours("harrell"), theirs("n"), ignore_attr = TRUE)
  expect_equal(ours("uno"), theirs("n/G2"), ignore_attr = TRUE)
  expect_equal(hold_out_test(prediction_losses(times, rules, metric = "uno(400)",
                                               groups = lung$inst))$parameter,
               length(unique(lung$inst)) - 1, ignore_attr = TRUE)
  # The mean of those of two times.
  risks <- cbind(plogis(lung$age / 10 - 7), plogis(lung$age / 10 - 6))
  brier <- function(risks, metric)
    hold_out_test(prediction_losses(times, list(a = risks), metric = metric))$estimate
  expect_equal(brier(risks, "integrated_brier(180,360)"),
               (brier(risks[, 1L], "brier(180)") + brier(risks[, 2L], "brier(360)")) / 2,
               ignore_attr = TRUE)
})

test_that("weights of observations are those of weighted least squares", {
  skip_without_python()
  set.seed(1)
  weights <- runif(nrow(pima))
  rules <- data.frame(a = ifelse(pima$glu > 130, "Yes", "No"), b = "No")
  wrong <- sapply(rules, function(rule) rule != pima$type)
  ours <- hold_out_test(prediction_losses(pima$type, rules, weights = weights))
  expect_equal(unname(ours$estimate), weighted.mean(wrong[, "a"] - wrong[, "b"], weights))
  expect_match(message_of(prediction_losses(pima$type, rules, weights = 1:3)), "'weights' must be")
})

# What caret::resamples() keeps, of five folds.
kept <- function(metric, a, b = rev(a)) {
  values <- data.frame(Resample = paste0("Fold", 1:5), a, b)
  names(values)[-1L] <- paste0(c("a", "b"), "~", metric)
  structure(list(values = values, models = c("a", "b"), metrics = metric), class = "resamples")
}

test_that("metrics of caret::resamples() keep their names and ranges", {
  skip_without_python()
  one <- function(metric, values, ...)
    corrected_t_test(as_losses(kept(metric, values), n = 60, ...), learner = "a")$conf.int[1:2]
  near_one <- c(1, 1, 0.93, 1, 1)
  for (metric in names(caret_scores)) expect_equal(one(metric, near_one)[2L], 1, label = metric)
  for (metric in names(caret_losses))
    expect_equal(one(metric, 1 - near_one)[1L], 0, label = metric)
  # Two learners at the ends of the range.
  apart <- function(metric, low) {
    losses <- as_losses(kept(metric, near_one, low), n = 60)
    corrected_t_test(losses, learner = "a", other = "b")$conf.int[2L]
  }
  expect_equal(apart("Rsquared", c(0, 0, 0.2, 0, 0)), 1)
  expect_equal(apart("Kappa", c(-1, -1, -0.8, -1, -1)), 2)
  expect_output(print(as_losses(kept("Kappa", near_one), n = 60)),
                "loss:  cohen_kappa (mean cohen_kappa), means of resamples only", fixed = TRUE)
  # Numbers out of the range, and metrics of the user's own, keep what the test says.
  expect_gt(one("Accuracy", 100 * near_one)[2L], 100)
  expect_gt(one("gain", near_one, greater_is_better = TRUE)[2L], 1)
  expect_gt(one("RMSE", near_one - 1, greater_is_better = TRUE)[2L], 0)
  expect_equal(as_losses(kept("gain", near_one), n = 60, greater_is_better = TRUE)$in_words,
               "mean gain")
  expect_gt(one("Accuracy", near_one, greater_is_better = FALSE)[2L], 1)
})
