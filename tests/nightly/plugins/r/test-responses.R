# Fits of other packages, scored on the scale of the response.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
set.seed(3)
counts <- data.frame(dose = rep(1:10, 4), site = factor(rep(c("north", "south"), 20)))
counts$cases <- rpois(40, exp(0.3 * counts$dose))
counts$cost <- rgamma(40, 3, 3 / exp(0.3 * counts$dose))
counts$any <- as.numeric(counts$dose + rnorm(40, sd = 2) > 5)
rows <- seq(1, 40, 2)
others <- setdiff(1:40, rows)
split <- own_folds(learning = list(rows))

# The mean squared error of one split, and what it is by hand.
squared <- function(formula, learner, data = counts, loss = "squared")
  unname(hold_out_test(formula, data, learner, design = split, loss = loss)$estimate)
by_hand <- function(fit, response, type = "response", loss = function(y, p) (y - p)^2)
  mean(loss(counts[[response]][others],
            as.vector(predict(fit, counts[others, ], type = type))))

test_that("generalised linear models are scored on the scale of the response", {
  skip_without_python()
  poisson <- glm(cases ~ dose, poisson, counts[rows, ])
  expect_equal(squared(cases ~ dose, r_learner(glm, family = "poisson")), by_hand(poisson, "cases"))
  expect_equal(squared(cases ~ dose, r_learner("stats::glm", family = "poisson")),
               by_hand(poisson, "cases"))
  own <- function(formula, data) glm(formula, Gamma("log"), data)
  gamma <- glm(cost ~ dose, Gamma("log"), counts[rows, ])
  expect_equal(squared(cost ~ dose, own), by_hand(gamma, "cost"))
  negative <- function(formula, data) MASS::glm.nb(formula, data, init.theta = 20)
  expect_equal(suppressWarnings(squared(cases ~ dose, negative)),
               suppressWarnings(by_hand(MASS::glm.nb(cases ~ dose, counts[rows, ]), "cases")),
               tolerance = 1e-4)
  expect_equal(squared(cases ~ dose, lm), by_hand(lm(cases ~ dose, counts[rows, ]), "cases"))
})

test_that("a binomial model of the numbers 0 and 1 predicts probabilities and labels", {
  skip_without_python()
  logistic <- r_learner(glm, family = "binomial")
  fit <- glm(any ~ dose, binomial, counts[rows, ])
  expect_equal(squared(any ~ dose, logistic), by_hand(fit, "any"))
  expect_equal(squared(any ~ dose, logistic, loss = "log"),
               by_hand(fit, "any", loss = function(y, p) -log(ifelse(y == 1, p, 1 - p))))
  expect_equal(squared(any ~ dose, logistic, loss = "zero_one"),
               by_hand(fit, "any", loss = function(y, p) y != (p > 0.5)))
})

test_that("additive models and cross-validated glmnet are scored as responses", {
  skip_without_python()
  skip_if_not_installed("mgcv")
  smooth <- function(formula, data) mgcv::gam(cases ~ s(dose, k = 4), poisson, data)
  expect_equal(squared(cases ~ dose, smooth),
               by_hand(mgcv::gam(cases ~ s(dose, k = 4), poisson, counts[rows, ]), "cases"))
  skip_if_not_installed("glmnet")
  x <- model.matrix(~ dose + site, counts)[, -1]
  foldid <- rep(1:4, 5)
  fit <- glmnet::cv.glmnet(x[rows, ], counts$cases[rows], family = "poisson", foldid = foldid)
  learner <- r_learner("glmnet::cv.glmnet", family = "poisson", foldid = foldid)
  expect_equal(unname(hold_out_test(x, counts$cases, learner, design = split, loss = "squared")$estimate),
               mean((counts$cases[others] - predict(fit, x[others, ], type = "response"))^2))
})
