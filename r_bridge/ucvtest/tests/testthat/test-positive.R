# Which class a score is about: labels 0 and 1 say it, other packages declared it, or a user names it.
pima <- MASS::Pima.te
risk <- data.frame(glucose = pima$glu, bmi = pima$bmi)
truth <- as.character(pima$type)
area <- function(losses) delong_learners_test(losses, 1)$estimate[[1]]

test_that("columns of scores need the positive class, unless the labels say it", {
  skip_without_python()
  missing <- "'positive' is missing: '?predictions\\$glucose'? contains a score or a probability of one class"
  binary <- 1 * (truth == "Yes")
  for (y in list(truth, pima$type, factor(pima$type, c("Yes", "No"))))
    for (loss in c("auc", "squared")) expect_refused(prediction_losses(y, risk, loss = loss) ~ missing)
  # 1 = well, 2 = ill, and zeros and ones in an order that is not theirs.
  for (y in list(1 + binary, factor(binary, c("1", "0"))))
    expect_refused(prediction_losses(y, risk, loss = "auc") ~ missing)
  probability <- data.frame(glucose = plogis(scale(pima$glu)[, 1]))
  for (loss in c("log", "brier"))
    expect_refused(prediction_losses(truth, probability, loss = loss) ~
      "\"No\" and \"Yes\" do not tell which one: pass positive = \"Yes\" if high values mean \"Yes\"")
  high <- area(prediction_losses(truth, risk, loss = "auc", positive = "Yes"))
  expect_gt(high, 0.5)
  expect_equal(area(prediction_losses(truth, risk, loss = "auc", positive = "No")), 1 - high)
  expect_equal(area(prediction_losses(truth, risk, loss = "auc", pos_label = "Yes")), high)
  for (y in list(truth == "Yes", binary, factor(binary), 2 * binary - 1))
    expect_equal(area(prediction_losses(y, risk, loss = "auc")), high)
})

test_that("functions that return scores need the positive class", {
  skip_without_python()
  score <- function(x, y, xnew) xnew[, 1]
  run <- function(y, ..., test = hold_out_test) {
    set.seed(2)
    test(risk[1:60, ], y[1:60], score, ...)
  }
  asked <- "positive is missing: learner score returns a score .* pass positive = \"Yes\" if high values mean 'Yes'"
  expect_refused(
    run(truth, loss = "brier") ~ asked,
    run(truth, loss = "log") ~ asked,
    run(truth, test = leave_pair_out_test) ~ "positive is missing",
    evaluate_learners(risk, truth, list(score), loss = "auc") ~ "positive is missing",
    run(1 + (truth == "Yes"), loss = "log") ~ "labels 1 and 2 do not .*pass positive = 2 if high values mean 2,")
  named <- run(truth, test = corrected_t_test, loss = "auc", positive = "Yes")
  expect_equal(named$estimate, run(truth == "Yes", test = corrected_t_test, loss = "auc")$estimate,
               ignore_attr = TRUE)
  expect_equal(named$diagnostics$positive_class, "Yes")
  # Labels, and learners that know their classes, need no name.
  labels <- function(x, y, xnew) rep("No", nrow(xnew))
  expect_true(is.finite(hold_out_test(risk, truth, labels)$estimate))
  for (learner in list("lda", "MASS::lda", glm))
    expect_true(is.finite(hold_out_test(risk, truth, learner, loss = "log")$estimate))
})

test_that("scores of one class need the positive class, whatever the order of the levels", {
  skip_without_python()
  run <- function(y, learner = "lda", ...) {
    set.seed(2)
    unname(corrected_t_test(pima[1:60, c(2, 5)], y[1:60], learner, design = 3, ...)$estimate)
  }
  reversed <- factor(truth, c("Yes", "No"))
  for (y in list(truth, reversed))
    expect_refused(run(y, scoring = "f1") ~
      "scoring = \"f1\" cannot score the labels .*: pass positive = \"No\" or positive = \"Yes\"")
  expect_equal(run(truth, scoring = "f1", positive = "Yes"), run(truth == "Yes", scoring = "f1"))
  # Those that are the same for both classes ask for nothing, nor turn with the levels.
  for (learner in list("lda", "glm"))
    for (asked in list(list(metric = "auc"), list(scoring = "roc_auc")))
      expect_equal(do.call(run, c(list(reversed, learner), asked)),
                   do.call(run, c(list(truth, learner), asked)))
})

test_that("the positive class is one label by one name, a number as text, or a level of no observation", {
  skip_without_python()
  f1 <- function(...) prediction_losses(1 + (truth == "Yes"), list(a = 1 + (pima$glu > 130)),
                                        metric = "f1", ...)
  expect_equal(f1(positive = "2")$means, f1(positive = 2)$means)
  well <- factor(rep("well", 9), levels = c("well", "ill"))
  rule <- function(metric) prediction_losses(well, list(a = well), metric = metric, positive = "ill")
  expect_equal(rule("specificity")$means[[1]], 1)
  unknown <- factor(truth, c("No", "Yes", "unknown"))
  expect_refused(
    prediction_losses(truth, risk, positive = "Yes", pos_label = "No") ~ "'positive' and 'pos_label' name diff",
    hold_out_test(risk, truth, "lda", positive = c("Yes", "No")) ~ "label of one class, got character of length 2",
    hold_out_test(risk, truth, "lda", positive = "ill") ~ "positive = \"ill\" is not one of the labels 'No', 'Yes'",
    hold_out_test(risk, truth, "glm", positive = "ill") ~ "positive = \"ill\" is not one of the labels 'No', 'Yes'",
    f1(positive = "3") ~ "positive = \"3\" is not one of the labels 1, 2$",
    rule("f1") ~ "y has one class only \\('well'\\), and metric = \"f1\" needs two: add observations",
    prediction_losses(unknown, pima["type"], positive = "unknown") ~ "no observation has this level")
})

test_that("a table of folds needs the positive class for its columns", {
  skip_without_python()
  table <- data.frame(truth = pima$type, fold = rep_len(1:4, nrow(pima)), glucose = pima$glu)
  areas <- function(...)
    as_losses(table, truth = "truth", predictions = "glucose", fold = "fold", loss = "auc", ...)
  expect_match(message_of(areas()), "'positive' is missing: column 'glucose' contains a score")
  expect_gt(min(areas(positive = "Yes")$means), 0.5)
})

test_that("tables of probabilities and costs follow the order of the levels, or their names", {
  skip_without_python()
  three <- factor(rep(c("mild", "severe", "none"), 8), c("none", "mild", "severe"))
  set.seed(5)
  chances <- matrix(rexp(72), 24)
  chances <- chances / rowSums(chances)
  log_loss <- mean(-log(chances[cbind(1:24, as.integer(three))]))
  by_order <- prediction_losses(three, list(model = chances), loss = "log")
  expect_equal(by_order$means[[1]], log_loss)
  expect_match(by_order$remarks, "the classes \"none\", \"mild\", \"severe\", in the order of the levels")
  named <- as.data.frame(chances)[c(2, 3, 1)]
  names(named) <- levels(three)[c(2, 3, 1)]
  by_name <- prediction_losses(three, list(model = named), loss = "log")
  expect_equal(by_name$means[[1]], log_loss)
  expect_null(by_name$remarks)
  names(named)[1] <- "medium"
  expect_refused(
    prediction_losses(three, list(a = chances[, 1:2]), loss = "log") ~ "predictions\\$a has columns .*: name them by the labels of y",
    prediction_losses(three, list(a = named), loss = "log") ~ "name them by the labels of y, 'mild', 'none', 'severe'")
  two <- cbind(chances[, 1], 1 - chances[, 1])
  expect_equal(prediction_losses(three == "none", list(model = 1 - two[, 1]), loss = "brier")$means,
               prediction_losses(factor(three == "none"), list(model = two), loss = "brier")$means)

  few <- three == "none"
  expected <- prediction_losses(few, list(model = chances[, 1]), loss = "brier")$means
  label <- factor(ifelse(few, "none", "some"), c("some", "none"))
  both <- data.frame(none = chances[, 1], some = 1 - chances[, 1])
  of_table <- function(table, ..., y = label) prediction_losses(y, list(model = table), ...)
  # The losses of one class are those of the other, and a table has both.
  for (table in list(both, as.matrix(both), structure(both, class = c("tbl_df", "tbl", "data.frame"))))
    expect_equal(of_table(table, loss = "brier")$means, expected)
  for (name in c("log_skill", "brier", "auc"))
    expect_equal(of_table(both, metric = name)$means,
                 of_table(both, metric = name, positive = "none")$means)
  expect_equal(of_table(cbind(`0` = both$some, `1` = both$none), loss = "auc", y = as.integer(few))$means,
               prediction_losses(few, list(model = both$none), loss = "auc")$means)
  holes <- transform(both, none = replace(none, 3, NA))
  expect_refused(
    of_table(both, metric = "net_benefit(0.2)") ~ "positive is missing: metric = .* is about one of two classes",
    of_table(both, metric = "average_precision") ~ "positive is missing: metric = .* is about one of two classes",
    of_table(transform(both, some = none), loss = "brier") ~ "has rows that sum to .* all classes sum to 1",
    of_table(transform(both, none = factor(none)), loss = "brier") ~ "contains strings where numbers are needed",
    of_table(holes, loss = "brier") ~ "'predictions\\$model' has missing values in 1 row \\(none\\)")

  costs <- matrix(c(0, 1, 4, 2, 0, 1, 3, 5, 0), 3)
  guess <- list(model = rev(three))
  expected <- mean(costs[cbind(as.integer(three), as.integer(rev(three)))])
  ours <- prediction_losses(three, guess, loss = costs)
  expect_equal(ours$means[[1]], expected)
  expect_match(ours$remarks, "Rows and columns of the costs .*\"none\", \"mild\", \"severe\"")
  dimnames(costs) <- list(levels(three), levels(three))
  expect_equal(prediction_losses(three, guess, loss = costs[3:1, c(2, 1, 3)])$means[[1]], expected)
  expect_match(message_of(prediction_losses(three, guess, loss = costs[1:2, ])),
               "costs of 3 classes are a matrix of numbers with a row and a column for each")
  severe <- function(x, y, xnew) factor(rep("severe", nrow(xnew)), levels(y))
  found <- corrected_t_test(data.frame(a = 1:24, b = 24:1), three, severe, loss = unname(costs),
                            design = k_fold(3, stratify = TRUE))
  expect_equal(unname(found$estimate), mean(costs[, "severe"]))
  expect_true(any(grepl("in the order of the levels", found$notes)))
})
