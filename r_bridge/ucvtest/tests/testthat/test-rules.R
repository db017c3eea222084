# Rules that others have judged: curves of pROC, risks of riskRegression; weights; folds.
pima <- MASS::Pima.te
pima$y <- as.numeric(pima$type == "Yes")

test_that("curves of pROC give its own test", {
  skip_if_not_installed("pROC")
  skip_without_python()
  curve <- function(score, ...) pROC::roc(pima$type, score, quiet = TRUE, ...)
  curves <- list(glucose = curve(pima$glu), bmi = curve(pima$bmi))
  theirs <- pROC::roc.test(curves$glucose, curves$bmi, method = "delong")
  ours <- delong_learners_test(as_losses(curves))
  expect_equal(c(ours$statistic, ours$p.value), c(theirs$statistic, theirs$p.value),
               ignore_attr = TRUE)
  expect_equal(ours$settings$learner, "glucose")
  # Lower values speak for disease: pROC says so by the direction.
  falling <- delong_learners_test(as_losses(curve(-pima$glu, direction = ">")))
  expect_equal(falling$estimate, as.numeric(pROC::auc(curves$glucose)), ignore_attr = TRUE)
  expect_equal(falling$stderr, sqrt(pROC::var(curves$glucose)))
  published <- delong_learners_test(as_losses(curve(-pima$glu, direction = ">")), interval = "wald")
  expect_equal(as.numeric(published$conf.int), as.numeric(pROC::ci.auc(curves$glucose))[c(1, 3)])
  expect_lt(falling$conf.int[1], published$conf.int[1])
  of_others <- pROC::roc(rev(pima$type), pima$bmi, quiet = TRUE)
  expect_match(message_of(as_losses(list(a = curves$bmi, b = of_others))), "different responses")
})

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

test_that("predictions that no label is like are refused in words of R", {
  expect_match(message_of(prediction_losses(pima$type, data.frame(a = pima$glu > 130))),
               "column 'a' .* is TRUE or FALSE, .*: pass ifelse\\(a, \"Yes\", \"No\"\\) if TRUE means \"Yes\"")
  high <- data.frame(a = pima$glu > 130)
  expect_match(message_of(prediction_losses(pima$type, high, metric = "f1", positive = "No")),
               "ifelse\\(a, \"No\", \"Yes\"\\) if TRUE means \"No\"")
  for (metric in c("net_benefit(0.2)", "brier", "average_precision"))
    expect_match(message_of(prediction_losses(pima$type, high, metric = metric, positive = "Yes")),
                 "needs numbers: pass as.integer\\(a\\)")
  expect_match(message_of(prediction_losses(pima$y, high, metric = "f1")), "pass as.integer\\(a\\)")
  expect_match(message_of(prediction_losses(pima$y + 1, high, metric = "f1", positive = 1)),
               "ifelse\\(a, 1, 2\\) if TRUE means 1")
  codes <- data.frame(a = as.integer(pima$type))
  expect_match(message_of(prediction_losses(pima$type, codes)), fixed = TRUE,
               "pass levels(y)[a] if they count the levels of 'y', No, Yes")
  expect_match(message_of(prediction_losses(pima$type, codes - 1)), fixed = TRUE,
               "pass ifelse(a == 1, \"Yes\", \"No\") if 1 means \"Yes\"")
  amounts <- data.frame(a = factor(pima$glu / 10))
  for (asked in list(list(loss = "squared"), list(metric = "r2")))
    expect_match(do.call(function(...) message_of(prediction_losses(pima$bmi, amounts, ...)), asked),
                 "is a factor, .*: pass as.numeric\\(as.character\\(a\\)\\)")
  expect_match(message_of(prediction_losses(pima$type, pima["type"], loss = "brier", positive = "Yes")),
               "\"brier\" needs probabilities: pass the probabilities of Yes")
  expect_match(message_of(prediction_losses(pima$y, pima["type"], metric = "f1")),
               "'y' has numbers: give both the same labels")
  expect_match(message_of(prediction_losses(pima$y, 1 * high, groups = "g")),
               "'groups' must be one label for each of 332 rows, got character")
  expect_match(message_of(prediction_losses(pima$y == 1, data.frame(a = NA))),
               "'predictions\\$a' has missing values in 1 row:")
})

test_that("amounts are not taken for labels", {
  skip_without_python()
  expect_match(message_of(prediction_losses(1:20, data.frame(a = 1:20))),
               "y contains 20 .*loss = \"squared\" .*factor\\(y\\) if they are labels")
  expect_equal(prediction_losses(1:20, list(a = 20:1), loss = "zero_one")$means[1L], 1)
})

test_that("labels that are numbers and levels of a factor are told apart in words of R", {
  skip_without_python()
  truth <- factor(c(0, 1, 1, 0))
  expect_match(message_of(prediction_losses(truth, list(p = c(0, 1, 0, 0)))),
               "'p' .* has numbers, .* a factor: pass factor\\(p, levels = levels\\(y\\)\\)")
  expect_match(message_of(prediction_losses(c(0, 1, 1, 0), list(p = truth))),
               "'p' .* is a factor, and 'y' has numbers: pass as.numeric\\(as.character\\(p\\)\\)")
  rule <- prediction_losses(c(0, 1, 1, 0), list(p = c(0.1, 0.9, 0.4, 0.2)), loss = "log")
  expect_match(names(hold_out_test(rule)$estimate), "(positive class 1)", fixed = TRUE)
})

test_that("a loss of one argument is refused before the fits", {
  expect_match(message_of(ustat_test(pima[1:7], pima$type, "glm", loss = function(y) 1)),
               "'loss' must be function\\(y, prediction\\), got a function of 1 argument")
})

test_that("plans of fixed rules are exact", {
  skip_without_python()
  wrong <- rep(c(TRUE, FALSE), c(10, 90))
  y <- rep(c("no", "yes"), 50)
  rule <- prediction_losses(y, list(rule = ifelse(wrong == (y == "no"), "yes", "no")))
  expect_equal(plan_sample_size(rule, "rule", width = 0.13)$n_needed, 94L)
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

test_that("answers that are right or wrong have exact intervals, by clusters too", {
  skip_without_python()
  right <- rep(c(TRUE, FALSE), c(19, 1))
  exact <- hold_out_test(correct_losses(list(model = right)))
  expect_equal(as.numeric(exact$conf.int), as.numeric(binom.test(19, 20)$conf.int))
  wilson <- hold_out_test(correct_losses(data.frame(model = right)), interval = "wilson")
  expect_equal(as.numeric(wilson$conf.int),
               as.numeric(prop.test(19, 20, correct = FALSE)$conf.int))
  question <- rep(1:10, each = 2)
  clustered <- correct_losses(list(a = right | TRUE, b = right), groups = question)
  all_right <- hold_out_test(clustered, "a")
  expect_equal(as.numeric(all_right$conf.int), c(0.025^(1 / 10), 1))
  expect_equal(all_right$settings$group_weight, "row")
  expect_equal(hold_out_test(clustered, "b", group_weight = "group")$settings$group_weight, "group")
  expect_match(message_of(correct_losses(list(a = c(1, 0.5)))), "prediction_losses")
  expect_match(message_of(correct_losses(list(a = c(TRUE, NA)))),
               "missing values in 1 row: drop these observations, or count them as wrong \\(FALSE\\)")
  for (text in list(as.character(right), factor(right)))
    expect_equal(correct_losses(list(a = text))$means[[1]], mean(right))
  expect_match(message_of(correct_losses(list(a = ifelse(right, "yes", "no")))), fixed = TRUE,
               "column == 'yes' if 'yes' means right or column == 'no' if 'no' means right")
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

test_that("survival times are refused where they are of another type, or not asked about", {
  skip_if_not_installed("survival")
  skip_without_python()
  times <- survival::Surv(c(5, 8, 3, 9), c(1, 2, 2, 1))
  rules <- data.frame(a = 4:1)
  expect_match(message_of(prediction_losses(times, rules)), "give a metric of survival where there are metrics")
  expect_match(message_of(prediction_losses(times, rules, metric = "f1")), "pass Surv\\(time, event\\)")
  expect_match(message_of(prediction_losses(1:4, rules, metric = "harrell")),
               "metric = \"harrell\" needs survival times: pass Surv\\(time, event\\) as y")
  counting <- survival::Surv(1:4, 2:5, c(1, 0, 1, 1))
  expect_match(message_of(prediction_losses(counting, rules, metric = "harrell")), "of type \"counting\"")
  expect_match(message_of(prediction_losses(times, rules, metric = "brier(5)")),
               "needs probabilities of an event by then")
})
