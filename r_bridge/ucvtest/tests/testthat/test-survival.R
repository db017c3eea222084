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

test_that("coxph learns survival times by a formula, and predicts risks and probabilities", {
  skip_without_python()
  expected <- by_hand(function(known, new, y) predict(cox(known), new), "harrell")
  expect_equal(learnt(survival::coxph, "harrell"), expected)
  expect_equal(learnt("coxph", "harrell"), expected)
  expect_equal(learnt(function(x, y, xnew)
    predict(survival::coxph(y ~ ., x), xnew, type = "risk"), "harrell"), expected)
  of_data <- evaluate_learners(survival::Surv(time, status) ~ ., lung, list(survival::coxph),
                               design = design, metric = "harrell")
  expect_equal(means(of_data), expected)
  by_then <- function(at) function(known, new, y)
    1 - t(summary(survival::survfit(cox(known), new), times = at)$surv)
  own <- function(formula, data) survival::coxph(formula, data)
  for (metric in c("brier(400)", "auc(400)"))
    expect_equal(learnt(list(survival::coxph, own), metric),
                 by_hand(by_then(400), metric)[c(1, 1), ])
  several <- "integrated_brier(200,400)"
  expect_equal(learnt(survival::coxph, several), by_hand(by_then(c(200, 400)), several))
  expect_equal(learnt(function(x, y, xnew) {
    fit <- survival::coxph(y ~ ., x)
    1 - t(summary(survival::survfit(fit, xnew), times = c(200, 400))$surv)
  }, several), by_hand(by_then(c(200, 400)), several))
})

test_that("learners that are not known to learn survival times are refused", {
  skip_without_python()
  own <- function(formula, data) structure(list(), class = "own")
  spec <- structure(list(), class = "model_spec")
  expect_refused(
    learnt(survival::survreg, "brier(400)") ~ "fit of class 'survreg' .* returns the probability of an event by",
    learnt(own, "harrell") ~ "fit of class 'own' .* r_learner\\(f, predict_type = \"risk\"\\)",
    learnt("lda", "harrell") ~ "use 'cox', or coxph, \"glmnet\", \"ranger\", \"rfsrc\" or a function\\(x, y, xnew\\)",
    learnt(spec, "harrell") ~ "learner model_spec is not known to learn survival times",
    learnt("cox", "brier(5000)") ~ "has no value for these survival times, as nobody is followed up to 5000",
    evaluate_learners(x, times, "cox") ~ "metric = \"harrell\", see \\?metrics")
  losses <- prediction_losses(times, data.frame(half = rep(0.5, nrow(lung))), metric = "brier(5000)")
  printed <- paste(utils::capture.output(print(losses)), collapse = " ")
  expect_match(printed, "Brier score at 5000 has no value here, because nobody is followed up to 5000")
  expect_match(hold_out_test(losses)$status, "no estimate: Brier score at 5000")
})
