test_that("a comparison is an htest with everything that R prints", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  expect_s3_class(result, c("ucvtest", "htest"), exact = TRUE)
  expect_named(result$statistic, "t")
  expect_equal(result$parameter, c(df = 59))
  expect_equal(result$null.value, 0, ignore_attr = TRUE)
  expect_equal(attr(result$conf.int, "conf.level"), 0.95)
  # The default interval of a difference of error rates has a scale of its own.
  plain <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20, interval = "wald")
  expect_equal(unname(plain$statistic), unname(plain$estimate) / plain$stderr)
  expect_equal(result$estimate, plain$estimate)
  expect_equal(result$data.name, "x and y")
  expect_equal(result$settings$learn_size, 20L)
  expect_equal(result$status, "ok")
  shown <- paste(capture.output(print(result)), collapse = "\n")
  for (part in c("data:  x and y", "p-value", "alternative hypothesis: true", "95 percent"))
    expect_match(shown, part, fixed = TRUE)
})

test_that("one learner alone has an interval and no test, unless there is a null value", {
  skip_without_python()
  alone <- seeded(x, y, "lda", n_pairs = 1000)
  expect_null(alone$p.value)
  expect_null(alone$statistic)
  expect_match(paste(capture.output(print(alone)), collapse = "\n"), "95 percent")
  expect_true(is.na(tidy(alone)$p.value))
  expect_equal(seeded(x, y, "lda", n_pairs = 1000, null_value = 0.5)$null.value, 0.5,
               ignore_attr = TRUE)
})

test_that("learning sets of an AUC have as many of each class as is asked for", {
  skip_without_python()
  by_class <- function(size) unlist(
    seeded(x, y, "lda", loss = "auc", learn_size = size, n_pairs = 300)$settings$learn_size_by_class)
  expect_equal(by_class(c(9, 11)), c(9L, 11L))
  expect_equal(sum(by_class(20)), 20L)
  expect_error(by_class(c(9, 11, 3)), "got c(9, 11, 3)", fixed = TRUE)
  expect_error(by_class(c(9, NA)), "learn_size must not contain NA")
})

test_that("set.seed decides the draws", {
  skip_without_python()
  first <- numbers(seeded(x, y, "lda", n_pairs = 1000))
  expect_identical(numbers(seeded(x, y, "lda", n_pairs = 1000)), first)
  set.seed(43)
  expect_false(identical(numbers(ustat_test(x, y, "lda", n_pairs = 1000)), first))
})

test_that("the second level is the positive class, and positive names another one", {
  skip_without_python()
  positive <- function(...) seeded(x, ..., n_pairs = 50)$settings$pos_label
  expect_equal(positive(y, "lda"), "versicolor")
  expect_equal(positive(y, "lda", positive = "virginica"), "virginica")
  expect_equal(positive(as.character(y), "lda"), "virginica")
  expect_equal(positive(y == "virginica", "lda"), "TRUE")
  expect_equal(positive(as.integer(y), "lda"), 2L)
  expect_equal(positive(factor(y, c("unused", levels(y))), "lda"), "versicolor")
  # A log loss of the wrong class would be far off.
  probability <- function(x, y, xnew) {
    predict(MASS::lda(x, y, method = "mle"), xnew)$posterior[, 2]
  }
  both <- seeded(x, y, probability, "lda", loss = "log", n_pairs = 50, positive = "versicolor")
  expect_equal(unname(both$estimate), 0, tolerance = 1e-6)
})

test_that("the formula interface equals x and y", {
  skip_without_python()
  by_formula <- seeded(Species ~ ., two_species(), "lda", n_pairs = 50)
  expect_equal(numbers(by_formula), numbers(seeded(x, y, "lda", n_pairs = 50)))
  expect_equal(by_formula$data.name, "Species ~ . in two_species()")
  expect_equal(numbers(seeded(y ~ x, learner = "lda", n_pairs = 50)), numbers(by_formula))
})

test_that("factors among the features become dummy variables", {
  skip_without_python()
  data <- transform(two_species(), size = cut(Sepal.Length, 3, labels = c("s", "m", "l")))
  dummies <- model.matrix(~ ., data[-4])[, -1]
  expected <- numbers(seeded(dummies, y, "nearest_centroid", n_pairs = 50))
  expect_equal(numbers(seeded(data[-4], y, "nearest_centroid", n_pairs = 50)), expected)
  expect_equal(numbers(seeded(Species ~ ., data, "nearest_centroid", n_pairs = 50)), expected)
})

test_that("an R function agrees with the learner of the same name", {
  skip_without_python()
  by_name <- seeded(x, y, "lda", n_pairs = 20)
  by_function <- seeded(x, y, lda_in_r, n_pairs = 20)
  expect_equal(numbers(by_function), numbers(by_name))
  expect_equal(by_function$settings$learner, "lda_in_r")
  expect_equal(unname(seeded(x, y, lda_in_r, "lda", n_pairs = 20)$estimate), 0)
})

test_that("an R function gets x and y as the user gave them", {
  skip_without_python()
  seen <- NULL
  spy <- function(x, y, xnew) {
    seen <<- list(x = x, y = y, xnew = xnew)
    rep("virginica", nrow(xnew))
  }
  seeded(two_species()[-4], y, spy, learn_size = 20, n_pairs = 10)
  expect_s3_class(seen$x, "data.frame")
  expect_equal(dim(seen$x), c(20L, 3L))
  expect_equal(levels(seen$y), levels(y))
  expect_equal(length(intersect(rownames(seen$x), rownames(seen$xnew))), 0L)
})

test_that("every option reaches the test", {
  skip_without_python()
  compare <- function(..., learn_size = 20) numbers(
    seeded(x, y, "lda", "nearest_centroid", learn_size = learn_size, ...))
  default <- compare(n_pairs = 3000)
  same <- function(..., n_pairs = 3000) identical(compare(..., n_pairs = n_pairs), default)
  expect_true(same())
  expect_false(same(n_pairs = 3001))
  expect_false(same(learn_size = 21))
  expect_false(same(variance = "jackknife"))
  expect_false(same(null_value = -0.1))
  expect_false(same(alternative = "less"))
  expect_false(same(loss = function(y, prediction) 2 * (y != prediction)))
  expect_lt(compare(tol = 0.2)$n_fits, compare()$n_fits)
  expect_lt(compare(max_fits = 2500)$n_fits, compare()$n_fits)
  one_sided <- compare(alternative = "less", conf.level = 0.9)
  expect_equal(one_sided$conf.low, -1)
  expect_lt(one_sided$conf.high, compare(alternative = "less")$conf.high)
})

test_that("a loss function sees labels as the user wrote them", {
  skip_without_python()
  # The variance and the interval of errors are not those of other losses.
  run <- function(...) seeded(x, y, "lda", n_pairs = 50, variance = "jackknife", interval = "wald", ...)
  expect_equal(
    numbers(run(loss = function(y, prediction) {
      stopifnot(is.factor(y), identical(levels(y), levels(prediction)))
      y != prediction
    })),
    numbers(run()))
})

test_that("a real response has squared error", {
  skip_without_python()
  result <- seeded(mpg ~ wt + hp, mtcars, "ridge:1", n_pairs = 1000,
                   other = function(x, y, xnew) rep(mean(y), nrow(xnew)))
  expect_equal(result$settings$loss, "squared")
  expect_lt(result$estimate, 0)
})

test_that("a test that was broken off goes on from its file", {
  skip_without_python()
  file <- tempfile(fileext = ".json")
  on.exit(unlink(file))
  fits <- 0
  state <- new.env()
  broken_at <- function(limit, checkpoint = file) {
    state$limit <- limit
    own <- function(x, y, xnew) {
      fits <<- fits + 1
      if (fits > state$limit) stop("power cut")
      predict(MASS::lda(x, y), xnew)$class
    }
    set.seed(1)
    ustat_test(x, y, own, "knn:1", variance = "few", checkpoint = checkpoint)
  }
  expect_match(message_of(broken_at(8)), "power cut")
  before <- fits
  again <- broken_at(Inf)
  expect_lt(fits - before, 20)
  whole <- broken_at(Inf, NULL)
  expect_equal(c(again$estimate, again$p.value), c(whole$estimate, whole$p.value))
  expect_match(message_of(broken_at(Inf, 3)), "'checkpoint' must be the name of a file")
})
