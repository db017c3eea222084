# Numbers are scored on the scale of the response, whatever predict() returns by default.
set.seed(3)
counts <- data.frame(dose = rep(1:10, 4), site = factor(rep(c("north", "south"), 20)))
counts$cases <- rpois(40, exp(0.3 * counts$dose))
counts$cost <- rgamma(40, 3, 3 / exp(0.3 * counts$dose))
counts$any <- as.numeric(counts$dose + rnorm(40, sd = 2) > 5)
rows <- seq(1, 40, 2)
others <- setdiff(1:40, rows)
split <- own_folds(learning = list(rows))

predict_by <- function(class, method)
  registerS3method("predict", class, method, envir = asNamespace("stats"))

# The mean squared error of one split, and what it is by hand.
squared <- function(formula, learner, data = counts, loss = "squared")
  unname(hold_out_test(formula, data, learner, design = split, loss = loss)$estimate)
by_hand <- function(fit, response, type = "response", loss = function(y, p) (y - p)^2)
  mean(loss(counts[[response]][others],
            as.vector(predict(fit, counts[others, ], type = type))))

test_that("fits of unknown classes are checked once, and asked for the type of predict()", {
  skip_without_python()
  predict_by("ucvtest_unknown", function(object, newdata, ...)
    log(predict(object$fit, newdata, type = "response")))
  of_class <- function(class) function(formula, data)
    structure(list(fit = glm(formula, stats::poisson, data)), class = class)
  expect_match(message_of(squared(cases ~ dose, of_class("ucvtest_unknown"))), paste0(
    "predict\\(\\) of a fit of class 'ucvtest_unknown' returned .* for responses of .*, so it may be ",
    "on another scale.*r_learner\\(f, predict_type = \"response\"\\)"))
  predict_by("ucvtest_right", function(object, newdata, ...)
    predict(object$fit, newdata, type = "response"))
  known <- r_learner(glm, family = "poisson")
  expect_equal(squared(cases ~ dose, of_class("ucvtest_right")), squared(cases ~ dose, known))
  predict_by("ucvtest_lp", function(object, newdata, type = c("lp", "mean"), ...)
    predict(object$fit, newdata, type = if (match.arg(type) == "lp") "link" else "response"))
  expect_match(message_of(squared(cases ~ dose, of_class("ucvtest_lp"))), paste0(
    "returns 'lp', which is not a response: name the type that is, as in r_learner\\(f, predict_type = ",
    "\"mean\"\\); it has \"lp\", \"mean\""))
  lp <- of_class("ucvtest_lp")
  expect_equal(squared(cases ~ dose, r_learner(lp, predict_type = "mean")),
               squared(cases ~ dose, known))
  expect_equal(squared(cases ~ dose, r_learner(glm, family = "poisson", predict_type = "link")),
               by_hand(glm(cases ~ dose, stats::poisson, counts[rows, ]), "cases", "link"))
})

test_that("a type of predict() that means nothing is refused", {
  mine <- r_learner(function(x, y, xnew) rep(0, nrow(xnew)), predict_type = "response")
  expect_refused(
    r_learner(glm, predict_type = 2) ~ "'predict_type' must be a type of predict",
    squared(cases ~ dose, mine) ~ "'predict_type' is about functions that return a fit")
})

test_that("the first look at a fit takes no random numbers away from its predictions", {
  labels <- c("no", "yes")
  predict_by("ucvtest_tied", function(object, newdata, ...) sample(labels, nrow(newdata), TRUE))
  read <- ucvtest:::predictor()
  learnt <- list(x = counts, y = rep(labels, 20))
  predicted <- function() drawn(1, read(structure(list(), class = "ucvtest_tied"), counts, labels, "label", learnt))
  expect_identical(predicted(), predicted())
})
