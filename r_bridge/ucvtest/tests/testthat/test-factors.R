# Learners that take numbers get the dummy variables of factors by both interfaces.
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

test_that("glmnet has dummies by data frames, matrices and formulas", {
  skip_if_not_installed("glmnet")
  skip_without_python()
  lasso <- r_learner("glmnet", s = 0.01)
  by_hand <- function(x, y, xnew) {
    fit <- glmnet::glmnet(x, y, "binomial", lambda = 0.01)
    levels(y)[1 + (predict(fit, xnew)[, 1] > 0)]
  }
  dummies <- model.matrix(~ age + town, towns)[, -1]
  expected <- unname(corrected_t_test(dummies, towns$ill, by_hand, design = folds)$estimate)
  expect_equal(by_frame(lasso), expected)
  expect_equal(by_formula_of(lasso), expected)
  # As text, and with a level that nobody has.
  text <- transform(towns, town = as.character(town))
  more <- transform(towns, town = factor(town, c("0", levels(town))))
  for (data in list(text, more)) expect_equal(by_frame(lasso, data), expected)
  expect_false(identical(by_frame(lasso, transform(towns, town = as.integer(town))), expected))
  ordered <- transform(towns, town = factor(town, ordered = TRUE))
  expect_equal(by_frame(lasso, ordered), by_formula_of(lasso, ordered))
})

test_that("a type of predict() is refused where it has no meaning", {
  expect_match(message_of(by_frame(r_learner("MASS::lda", predict_type = "response"))),
               "learner MASS::lda takes no predict_type")
})
