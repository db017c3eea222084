# Dummy variables of factors for learners of other packages.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
set.seed(8)
towns <- data.frame(age = round(rnorm(60, 50, 10)),
                    town = factor(sample(c("a", "b", "c", "d"), 60, TRUE)))
towns$ill <- factor(ifelse(towns$town %in% c("b", "d") & rnorm(60) > -1, "yes", "no"))
features <- function(data) data[setdiff(names(data), "ill")]
folds <- own_folds(testing = split(1:60, rep(1:3, 20)))

by_frame <- function(learner, data = towns)
  unname(corrected_t_test(features(data), data$ill, learner, design = folds)$estimate)
by_formula_of <- function(learner, data = towns)
  unname(corrected_t_test(ill ~ ., data, learner, design = folds)$estimate)

test_that("discriminant analysis and support vectors have them too", {
  skip_without_python()
  for (learner in c("MASS::lda", "MASS::qda", "e1071::svm")) {
    if (!requireNamespace(sub("::.*", "", learner), quietly = TRUE)) next
    data <- if (learner == "MASS::qda") transform(towns, town = factor(town %in% c("b", "d"))) else towns
    data$ill <- factor(ifelse(seq_len(60) %% 7 == 0, rev(levels(data$ill))[data$ill],
                              as.character(data$ill)))
    expect_equal(by_frame(learner, data), by_formula_of(learner, data), info = learner)
  }
})
