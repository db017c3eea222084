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

test_that("predictions that no label is like are refused in words of R", {
  skip_without_python()
  rule <- function(y, table, ...) prediction_losses(y, table, ...)
  high <- data.frame(a = pima$glu > 130)
  codes <- data.frame(a = as.integer(pima$type))
  amounts <- data.frame(a = factor(pima$glu / 10))
  truth <- factor(c(0, 1, 1, 0))
  of_numbers <- "is a factor, .*: pass as.numeric\\(as.character\\(a\\)\\)"
  expect_refused(
    rule(pima$type, high) ~ "column 'a' .* is TRUE or FALSE, .*ifelse\\(a, \"Yes\", \"No\"\\) if TRUE means \"Yes\"",
    rule(pima$type, high, metric = "f1", positive = "No") ~ "ifelse\\(a, \"No\", \"Yes\"\\) if TRUE means \"No\"",
    rule(pima$type, high, metric = "brier", positive = "Yes") ~ "needs numbers: pass as.integer\\(a\\)",
    rule(pima$type, high, metric = "net_benefit(0.2)", positive = "Yes") ~ "needs numbers: pass as.integer",
    rule(pima$y, high, metric = "f1") ~ "pass as.integer\\(a\\)",
    rule(pima$y + 1, high, metric = "f1", positive = 1) ~ "ifelse\\(a, 1, 2\\) if TRUE means 1",
    rule(pima$type, codes) ~ "pass levels\\(y\\)\\[a\\] if they count the levels of 'y', No, Yes",
    rule(pima$type, codes - 1) ~ "pass ifelse\\(a == 1, \"Yes\", \"No\"\\) if 1 means \"Yes\"",
    rule(pima$bmi, amounts, loss = "squared") ~ of_numbers,
    rule(pima$bmi, amounts, metric = "r2") ~ of_numbers,
    rule(pima$type, pima["type"], loss = "brier", positive = "Yes") ~ "needs probabilities: pass .* of Yes",
    rule(pima$y, pima["type"], metric = "f1") ~ "'y' has numbers: give both the same labels",
    rule(truth, list(p = c(0, 1, 0, 0))) ~ "has numbers, .* a factor: pass factor\\(p, levels = levels\\(y\\)\\)",
    rule(c(0, 1, 1, 0), list(p = truth)) ~ "'p' .* is a factor, and 'y' has numbers: pass as.numeric",
    rule(pima$y, 1 * high, groups = "g") ~ "'groups' must be one label for each of 332 rows, got character",
    rule(pima$y, 1 * high, weights = 1:3) ~ "'weights' must be",
    rule(pima$y, 1 * high, fold = 1:3) ~ "'fold' must be one label for each of 332 rows, got",
    rule(pima$y == 1, data.frame(a = NA)) ~ "'predictions\\$a' has missing values in 1 row:",
    rule(1:20, data.frame(a = 1:20)) ~ "y contains 20 .*loss = \"squared\" .*if they are labels, or factor\\(y\\)",
    ustat_test(pima[1:7], pima$type, "glm", loss = function(y) 1) ~
      "'loss' must be function\\(y, prediction\\), got a function of 1 argument")
  expect_equal(rule(1:20, list(a = 20:1), loss = "zero_one")$means[1L], 1)
  ones <- rule(c(0, 1, 1, 0), list(p = c(0.1, 0.9, 0.4, 0.2)), loss = "log")
  expect_match(names(hold_out_test(ones)$estimate), "(positive class 1)", fixed = TRUE)
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
  expect_refused(
    correct_losses(list(a = c(1, 0.5))) ~ "prediction_losses",
    correct_losses(list(a = c(TRUE, NA))) ~ "missing values in 1 row: .*, or count them as wrong \\(FALSE\\)",
    correct_losses(list(a = ifelse(right, "yes", "no"))) ~
      "column == 'yes' if 'yes' means right or column == 'no' if 'no' means right")
  for (text in list(as.character(right), factor(right)))
    expect_equal(correct_losses(list(a = text))$means[[1]], mean(right))
})

test_that("survival times are refused where they are of another type, or not asked about", {
  skip_if_not_installed("survival")
  skip_without_python()
  times <- survival::Surv(c(5, 8, 3, 9), c(1, 2, 2, 1))
  counting <- survival::Surv(1:4, 2:5, c(1, 0, 1, 1))
  rules <- data.frame(a = 4:1)
  expect_refused(
    prediction_losses(times, rules) ~ "give a metric of survival where there are metrics",
    prediction_losses(times, rules, metric = "f1") ~ "pass Surv\\(time, event\\)",
    prediction_losses(1:4, rules, metric = "harrell") ~ "\"harrell\" needs survival times: pass Surv\\(time, event\\)",
    prediction_losses(counting, rules, metric = "harrell") ~ "of type \"counting\"",
    prediction_losses(times, rules, metric = "brier(5)") ~ "needs probabilities of an event by then")
})
