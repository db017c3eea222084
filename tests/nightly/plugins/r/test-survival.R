# Learners of survival times of other packages, against the same fit by hand.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
skip_if_not_installed("survival")
lung <- na.omit(survival::lung[c("time", "status", "age", "sex", "ph.ecog", "pat.karno")])
lung$sex <- factor(lung$sex, labels = c("male", "female"))
times <- survival::Surv(lung$time, lung$status)
x <- lung[-(1:2)]
fold <- rep(1:3, length.out = nrow(lung))

means <- function(losses) unname(losses$means)

design <- split(seq_along(fold), fold)

learnt <- function(learners, metric, ...)
  means(evaluate_learners(x, times, learners, design = design, metric = metric, ...))

# `predicted` is function(known, new, y) with the rows that are learnt from and those that are not.
by_hand <- function(predicted, metric) {
  found <- lapply(1:3, function(k)
    as.matrix(predicted(lung[fold != k, ], lung[fold == k, ], times[fold != k])))
  table <- matrix(0, nrow(lung), ncol(found[[1L]]))
  for (k in 1:3) table[fold == k, ] <- found[[k]]
  means(prediction_losses(times, list(by_hand = table), metric = metric, fold = fold))
}

cox <- function(known) survival::coxph(survival::Surv(time, status) ~ ., known)

test_that("glmnet and ranger learn survival times by name", {
  skip_if_not_installed("glmnet")
  skip_if_not_installed("ranger")
  skip_without_python()
  numbers <- function(data) model.matrix(~ age + sex + ph.ecog + pat.karno, data)[, -1]
  lasso <- function(known, y) glmnet::glmnet(numbers(known), y, family = "cox", lambda = 0.05)
  glmnet <- r_learner("glmnet", s = 0.05)
  expect_equal(learnt(glmnet, "uno(700)"), by_hand(function(known, new, y)
    predict(lasso(known, y), numbers(new), type = "link"), "uno(700)"))
  expect_equal(learnt(glmnet, "brier(400)"), by_hand(function(known, new, y) {
    curves <- survival::survfit(lasso(known, y), x = numbers(known), y = y, newx = numbers(new))
    1 - t(summary(curves, times = 400)$surv)
  }, "brier(400)"))
  # Without random numbers: all rows and all features.
  settings <- list(num.trees = 1, replace = FALSE, sample.fraction = 1, mtry = 4)
  forest <- do.call(r_learner, c("ranger", settings))
  predicted <- function(known, new, y) predict(do.call(ranger::ranger, c(
    list(x = known[-(1:2)], y = y), settings)), new)
  expect_equal(learnt(list(forest, do.call(r_learner, c(ranger::ranger, settings))), "harrell"),
               by_hand(function(...) rowSums(predicted(...)$chf), "harrell")[c(1, 1), ])
  expect_equal(learnt(forest, "brier(400)"), by_hand(function(...) {
    trees <- predicted(...)
    1 - trees$survival[, sum(trees$unique.death.times <= 400)]
  }, "brier(400)"))
})

test_that("tests, comparisons and single tested rows take learners of survival times", {
  skip_if_not_installed("glmnet")
  skip_if_not_installed("ranger")
  skip_without_python()
  # The jitted learner is the same model.
  result <- ustat_test(x, times, survival::coxph, "cox", metric = "brier(400)", max_fits = 12)
  expect_lt(abs(result$estimate), 1e-8)
  compared <- compare_learners(x, times, list(survival::coxph, age = function(x, y, xnew) xnew$age),
                               "cross_validation_wald", metric = "harrell")
  expect_identical(compared$status, "ok")
  single <- evaluate_learners(x, times, list(survival::coxph, r_learner("ranger", num.trees = 3),
                                             r_learner("glmnet", s = 0.05)),
                              design = list(1, 2, 3), metric = "integrated_brier(200,400)")
  expect_true(all(is.finite(single$means)))
})

# No distribution has this package: where it is missing there is no test, and nothing to skip. It is
# named by strings, as the check of packages would otherwise look for it.
if (nzchar(system.file(package = "randomForestSRC"))) {
  test_that("rfsrc of randomForestSRC learns survival times, by its name and as it is", {
    rfsrc <- getExportedValue("randomForestSRC", "rfsrc")
    skip_without_python()
    # Without random numbers.
    settings <- list(ntree = 3, bootstrap = "none", mtry = 4, nsplit = 0)
    predicted <- function(known, new) {
      as_events <- function(data) transform(data, status = as.integer(status == 2))
      formula <- stats::as.formula("Surv(time, status) ~ .")
      fit <- do.call(rfsrc, c(list(formula, as_events(known)), settings))
      predict(fit, as_events(new))
    }
    forests <- list(named = do.call(r_learner, c("rfsrc", settings)),
                    itself = do.call(r_learner, c(rfsrc, settings)))
    expect_equal(learnt(forests, "harrell"),
                 by_hand(function(known, new, y) predicted(known, new)$predicted,
                         "harrell")[c(1, 1), ])
    expect_equal(learnt(forests$named, "brier(400)"), by_hand(function(known, new, y) {
      forest <- predicted(known, new)
      1 - forest$survival[, sum(forest$time.interest <= 400)]
    }, "brier(400)"))
  })
}

test_that("workers learn survival times too", {
  skip_on_cran()
  skip_without_python()
  expect_equal(learnt(survival::coxph, "integrated_brier(200,400)", n_jobs = 2),
               learnt(survival::coxph, "integrated_brier(200,400)"))
})
