# Which class a score is about: labels 0 and 1 say it, other packages declared it, or a user names it.
pima <- MASS::Pima.te
risk <- data.frame(glucose = pima$glu, bmi = pima$bmi)
truth <- as.character(pima$type)
area <- function(losses) delong_learners_test(losses, 1)$estimate[[1]]

test_that("columns of scores need the positive class, unless the labels say it", {
  skip_without_python()
  missing <- "'positive' is missing: '?predictions\\$glucose'? contains a score or a probability of one class"
  for (y in list(truth, pima$type, factor(pima$type, c("Yes", "No"))))
    for (loss in c("auc", "squared"))
      expect_match(message_of(prediction_losses(y, risk, loss = loss)), missing)
  probability <- data.frame(glucose = plogis(scale(pima$glu)[, 1]))
  for (loss in c("log", "brier"))
    expect_match(message_of(prediction_losses(truth, probability, loss = loss)), paste0(
      ".* \"No\" and \"Yes\" do not tell which one: pass positive = \"Yes\" if high values mean \"Yes\""))
  # 1 = well, 2 = ill, and zeros and ones in an order that is not theirs.
  expect_match(message_of(prediction_losses(1 + (truth == "Yes"), risk, loss = "auc")), missing)
  expect_match(message_of(prediction_losses(factor(1 * (truth == "Yes"), c("1", "0")), risk,
                                            loss = "auc")), missing)
  high <- area(prediction_losses(truth, risk, loss = "auc", positive = "Yes"))
  expect_gt(high, 0.5)
  expect_equal(area(prediction_losses(truth, risk, loss = "auc", positive = "No")), 1 - high)
  expect_equal(area(prediction_losses(truth, risk, loss = "auc", pos_label = "Yes")), high)
  for (y in list(truth == "Yes", 1 * (truth == "Yes"), factor(1 * (truth == "Yes")),
                 2 * (truth == "Yes") - 1))
    expect_equal(area(prediction_losses(y, risk, loss = "auc")), high)
})

test_that("functions that return scores need the positive class", {
  skip_without_python()
  score <- function(x, y, xnew) xnew[, 1]
  run <- function(y, ..., test = corrected_t_test) {
    set.seed(2)
    test(risk[1:60, ], y[1:60], score, ...)
  }
  for (loss in c("auc", "log"))
    expect_match(message_of(run(truth, loss = loss)), paste0(
      "positive is missing: learner score returns a score or a probability of one class, and the ",
      "labels 'No' and 'Yes' do not tell which one; pass positive = \"Yes\" if high values mean 'Yes'"))
  expect_match(message_of(run(truth, test = leave_pair_out_test)), "positive is missing")
  expect_match(message_of(evaluate_learners(risk, truth, list(score), loss = "auc")),
               "positive is missing")
  expect_match(message_of(run(1 + (truth == "Yes"), loss = "auc")),
               "the labels 1 and 2 do not tell which one; pass positive = 2 if high values mean 2,")
  named <- run(truth, loss = "auc", positive = "Yes")
  expect_equal(named$estimate, run(truth == "Yes", loss = "auc")$estimate, ignore_attr = TRUE)
  expect_equal(named$diagnostics$positive_class, "Yes")
  # Labels, and learners that know their classes, need no name.
  labels <- function(x, y, xnew) rep("No", nrow(xnew))
  expect_true(is.finite(hold_out_test(risk, truth, labels)$estimate))
  for (learner in list("lda", "MASS::lda", glm))
    expect_true(is.finite(corrected_t_test(risk, truth, learner, loss = "auc")$estimate))
})

test_that("scores of one class need the positive class, whatever the order of the levels", {
  skip_without_python()
  run <- function(y, learner = "lda", ...) {
    set.seed(2)
    unname(corrected_t_test(pima[1:60, 1:7], y[1:60], learner, ...)$estimate)
  }
  reversed <- factor(truth, c("Yes", "No"))
  for (score in c("f1", "average_precision"))
    for (y in list(truth, reversed))
      expect_match(message_of(run(y, scoring = score)), paste0(
        "scoring = \"", score, "\" cannot score the labels .*: pass positive = \"No\" or positive = \"Yes\""))
  expect_match(message_of(evaluate_learners(pima[1:60, 1:7], truth[1:60], "lda", scoring = "f1")),
               "pass positive = \"No\"")
  expect_equal(run(truth, scoring = "f1", positive = "Yes"), run(truth == "Yes", scoring = "f1"))
  # Those that are the same for both classes ask for nothing, nor turn with the levels.
  for (learner in list("lda", "glm", "MASS::lda"))
    for (asked in list(list(metric = "auc"), list(scoring = "roc_auc"), list(scoring = "neg_brier_score")))
      expect_equal(do.call(run, c(list(reversed, learner), asked)),
                   do.call(run, c(list(truth, learner), asked)))
})

test_that("the positive class is one label, by one name", {
  expect_match(message_of(prediction_losses(truth, risk, positive = "Yes", pos_label = "No")),
               "'positive' and 'pos_label' name different classes")
  expect_match(message_of(hold_out_test(risk, truth, "lda", positive = c("Yes", "No"))),
               "'positive' must be the label of one class, got character of length 2")
  skip_without_python()
  for (learner in list("lda", "glm"))
    expect_match(message_of(hold_out_test(risk, truth, learner, positive = "ill")), fixed = TRUE,
                 "positive = \"ill\" is not one of the labels 'No', 'Yes'")
})

test_that("the positive class may be a number as text, or a level of no observation", {
  skip_without_python()
  f1 <- function(...) prediction_losses(1 + (truth == "Yes"), list(a = 1 + (pima$glu > 130)),
                                        metric = "f1", ...)
  expect_equal(f1(positive = "2")$means, f1(positive = 2)$means)
  expect_match(message_of(f1(positive = "3")), "positive = \"3\" is not one of the labels 1, 2$")
  well <- factor(rep("well", 9), levels = c("well", "ill"))
  expect_equal(prediction_losses(well, list(a = well), metric = "specificity", positive = "ill")$means[[1]], 1)
  expect_match(message_of(prediction_losses(well, list(a = well), metric = "f1", positive = "ill")),
               "y has one class only \\('well'\\), and metric = \"f1\" needs two: add observations")
  expect_match(message_of(prediction_losses(factor(truth, c("No", "Yes", "unknown")), pima["type"],
                                            positive = "unknown")), "no observation has this level")
})

test_that("a table of folds needs the positive class for its columns", {
  skip_without_python()
  table <- data.frame(truth = pima$type, fold = rep_len(1:4, nrow(pima)), glucose = pima$glu)
  areas <- function(...)
    as_losses(table, truth = "truth", predictions = "glucose", fold = "fold", loss = "auc", ...)
  expect_match(message_of(areas()), "'positive' is missing: column 'glucose' contains a score")
  expect_gt(min(areas(positive = "Yes")$means), 0.5)
})

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
  expect_match(message_of(prediction_losses(three, list(model = chances[, 1:2]), loss = "log")),
               "'predictions\\$model' has 2 columns, and 'y' has 3 classes")
  names(named)[1] <- "medium"
  expect_match(message_of(prediction_losses(three, list(model = named), loss = "log")),
               "name them by the labels of 'y', none, mild, severe")
  two <- cbind(chances[, 1], 1 - chances[, 1])
  expect_equal(prediction_losses(three == "none", list(model = 1 - two[, 1]), loss = "brier")$means,
               prediction_losses(factor(three == "none"), list(model = two), loss = "brier")$means)

  few <- three == "none"
  expected <- prediction_losses(few, list(model = chances[, 1]), loss = "brier")$means
  label <- factor(ifelse(few, "none", "some"), c("some", "none"))
  both <- data.frame(none = chances[, 1], some = 1 - chances[, 1])
  of_table <- function(table, ..., y = label) prediction_losses(y, list(model = table), ...)
  # The losses of one class are those of the other, and a table has both.
  for (table in list(both, as.matrix(both), structure(both, class = c("tbl_df", "tbl", "data.frame")))) {
    expect_equal(of_table(table, loss = "brier")$means, expected)
    expect_equal(of_table(table, metric = "brier")$means, expected)
  }
  for (name in c("brier", "auc"))
    expect_equal(of_table(both, metric = name)$positive, of_table(both, loss = name)$positive)
  for (name in c("log", "log_skill", "brier_skill", "auc"))
    expect_equal(of_table(both, metric = name)$means,
                 of_table(both, metric = name, positive = "none")$means)
  for (name in c("net_benefit(0.2)", "average_precision"))
    expect_match(message_of(of_table(both, metric = name)),
                 "positive is missing: metric = .* is about one of two classes")
  for (y in list(as.integer(few), as.double(few)))
    for (name in c("brier", "auc"))
      expect_equal(of_table(cbind(`0` = both$some, `1` = both$none), loss = name, y = y)$means,
                   prediction_losses(few, list(model = both$none), loss = name)$means)
  expect_match(message_of(of_table(transform(both, some = none), loss = "brier")),
               "has rows that sum to .* all classes sum to 1")
  expect_match(message_of(of_table(transform(both, none = factor(none)), loss = "brier")),
               "contains strings where numbers are needed")
  both$none[3] <- NA
  expect_match(message_of(of_table(both, loss = "brier")),
               "'predictions\\$model' has missing values in 1 row \\(none\\)")

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
