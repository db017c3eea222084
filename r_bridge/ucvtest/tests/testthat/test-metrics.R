# Metrics such as F1 and R2: their values by hand, names of yardstick, and what is refused.
truth <- factor(rep(c("ill", "well"), c(14, 26)))
rules <- data.frame(a = rep(c("ill", "well", "ill"), c(12, 25, 3)),
                    b = rep(c("ill", "well", "ill"), c(9, 26, 5)))

test_that("metrics are named where results are printed, and compared", {
  skip_without_python()
  losses <- prediction_losses(truth, rules, metric = "f1", positive = "ill")
  expect_output(print(losses), "metric:  f1 \\(F1\\)")
  result <- hold_out_test(losses)
  expect_match(names(result$estimate), "difference in F1")
  expect_match(methods_text(result), "the score is f1")
  expect_equal(compare_learners(losses, "hold_out", metric = c("kap", "mcc"))$test, c("kappa", "mcc"))
  y <- c(1.5, 2.5, 4, 3.5, 6, 7.5)
  p <- data.frame(p = c(1, 3, 4.5, 3, 5.5, 8))
  r2 <- hold_out_test(prediction_losses(y, p, metric = "rsq_trad"))
  expect_equal(unname(r2$estimate), 1 - sum((y - p$p)^2) / sum((y - mean(y))^2))
  scored <- evaluate_learners(iris[51:100, 1:2], gl(2, 25), c("lda", "knn:5"), metric = "mcc")
  expect_output(print(scored), "metric:  mcc")
  learnt <- hold_out_test(iris[51:150, 1:2], droplevels(iris$Species[51:150]), "lda", metric = "mcc")
  expect_match(names(learnt$estimate), "Matthews")
})

test_that("names of yardstick and caret mean what their manuals say", {
  skip_without_python()
  cell <- table(truth, factor(rules$a, levels(truth)))
  n <- sum(cell)
  sens <- cell[1, 1] / sum(cell[1, ])
  spec <- cell[2, 2] / sum(cell[2, ])
  by_chance <- sum(rowSums(cell) * colSums(cell)) / n^2
  f <- 2 * cell[1, 1] / (sum(cell[1, ]) + sum(cell[, 1]))
  expected <- c(sens = sens, sensitivity = sens, spec = spec, ppv = cell[1, 1] / sum(cell[, 1]),
                npv = cell[2, 2] / sum(cell[, 2]), bal_accuracy = (sens + spec) / 2,
                kap = (sum(diag(cell)) / n - by_chance) / (1 - by_chance),
                Sens = sens, Spec = spec, F = f, f1 = f)
  found <- vapply(names(expected), function(name) unname(hold_out_test(
    prediction_losses(truth, rules["a"], metric = name, positive = "ill"))$estimate), 0)
  expect_equal(found, expected)
  error <- function(...) {
    set.seed(1)
    unname(hold_out_test(mpg ~ wt, mtcars, "ridge:1", ...)$estimate)
  }
  expect_equal(error(metric = "RMSE"), error(metric = "rmse"))
  for (asked in list(error(metric = "MAE"), error(loss = "MAE"))) expect_equal(asked, error(loss = "mae"))
  of_caret <- prediction_losses(truth, list(rule = seq_along(truth)), loss = "ROC", positive = "ill")
  expect_equal(of_caret$loss, "auc")
})

test_that("what a metric cannot be is refused in words of R", {
  skip_without_python()
  of <- function(...) prediction_losses(truth, rules, ...)
  three <- factor(rep(c("low", "mid", "high"), 8), levels = c("low", "mid", "high"))
  guess <- data.frame(p = rep(c("low", "mid", "mid"), 8))
  several <- function(metric, y = three) prediction_losses(y, guess, metric = metric)
  area <- prediction_losses(truth, list(rule = seq_along(truth)), metric = "auc", positive = "ill")
  x <- cbind(seq_along(three), rev(seq_along(three)))
  no_order <- "y does not declare the place of .* pass y as factor\\(y, levels = , ordered = TRUE\\)"
  no_mean <- "not a mean over observations: (pass|write) metric = \"%s"
  expect_refused(
    of(metric = "f1") ~ "\"f1\" is about one of two classes.*pass positive = \"well\", or positive = \"ill\"",
    of(metric = "f2") ~ "metric = \"f2\" is unknown",
    of(loss = "acuracy") ~ "did you mean 'accuracy', which stands for 'zero_one'",
    of(loss = "f1") ~ sprintf(no_mean, "f1"),
    of(loss = "sens") ~ sprintf(no_mean, "sens"),
    of(metric = "f1", loss = "zero_one") ~ "exclude each other",
    of(metric = "r2") ~ "metric = \"r2\" needs numbers, but y contains labels",
    of(metric = "rsq") ~ "the squared correlation: use \"pearson\"",
    of(metric = mean) ~ "'metric' must be the name of a metric, .* as 'scoring'",
    of(metric = c("f1", "mcc")) ~ "'metric' must be the name of a metric",
    of(metric = "mcc", weights = rep(1, 40)) ~ "but metric = \"mcc\" is a function of means",
    of(metric = 'recall["ill"]', positive = "well") ~ "positive = \"well\" is not the class that metric = ",
    of(metric = "j_index") ~ "use 'balanced_accuracy'",
    of(metric = "brier_skill") ~ "'positive' is missing: 'predictions\\$a' contains a score",
    hold_out_test(mtcars["wt"], mtcars$mpg, "ridge", metric = mean) ~ "'metric' must be the name of a metric",
    hold_out_test(mtcars["wt"], mtcars$mpg, "ridge", loss = "RMSE") ~ "is \"RMSE\", .*write metric = \"rmse\" .* \"squared\"",
    hold_out_test(mtcars["wt"], mtcars$mpg, "ridge", metric = "Rsquared") ~ "the squared correlation",
    hold_out_test(area) ~ "^'auc' keeps decision scores",
    mcnemar_learners_test(of(metric = "mcc")) ~ "not for mcnemar_learners_test\\(\\): use ustat_test",
    compare_learners(of(), metric = "kap") ~ "these losses keep no predictions: make them with metric, such as metric = ",
    several("f1") ~ "name one, as in 'f1\\[\"ill\"\\]', or an average, as in 'f1_macro'",
    several("f_meas") ~ "yardstick has another number: use \"f1_macro\"",
    several("kappa_linear") ~ no_order,
    # Levels that happen to be in the order of the alphabet declare none either.
    several("kappa_linear", as.character(three)) ~ no_order,
    evaluate_learners(x, three, "knn:3", metric = "kappa_linear") ~ no_order)
  expect_silent(prediction_losses(truth == "ill", rules == "ill", metric = 'recall["FALSE"]'))
  places <- list(p = as.integer(factor(guess$p, levels(three))))
  by_places <- prediction_losses(as.integer(three), places, metric = "kappa_linear")
  expect_equal(several("kappa_linear", factor(three, ordered = TRUE))$means, by_places$means)
  means <- function(y) {
    set.seed(1)
    evaluate_learners(x, y, c("knn:3", "nearest_centroid"), 4, metric = "kappa_linear")$means
  }
  expect_equal(means(factor(three, ordered = TRUE)), means(as.integer(three)))
})

test_that("ordered factors are scores, and labels are not", {
  skip_without_python()
  truth <- factor(rep(c("ill", "well"), c(30, 20)))
  grade <- factor(rep(c("high", "mid", "low", "mid"), c(20, 10, 15, 5)), c("low", "mid", "high"))
  area <- function(grade)
    prediction_losses(truth, list(grade = grade), "auc", positive = "ill")$means[[1L]]
  expect_equal(area(ordered(grade)), area(as.integer(grade)))
  expect_equal(message_of(area(grade)), paste(
    "column 'grade' of 'predictions' contains labels, and \"auc\" goes by the order of scores: give",
    "numbers, or an ordered factor, lowest level first, as by factor(levels = , ordered = TRUE)"))
})
