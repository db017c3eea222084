two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), c(1, 2, 5)]

test_that("the recommended test runs with the arguments that come with it", {
  skip_without_python()
  for (learners in list("lda", c("lda", "knn:1"))) {
    advice <- advise(60, n_fits = 20, learners = length(learners))
    expect_lte(advice$n_fits, 20)
    found <- do.call(advice$test, c(list(Species ~ ., quote(two)), as.list(learners),
                                    advice$arguments))
    expect_equal(found$data.name, "Species ~ . in two")
  }
  # A metric is asked for as in tests.
  advice <- advise(60, n_fits = 40, metric = "f_meas")
  expect_equal(advice$arguments$metric, "f1")
  by_formula <- advise(Species ~ ., two, n_fits = 40, metric = "f1")
  expect_equal(by_formula[names(advice)], unclass(advice), ignore_attr = TRUE)
  found <- do.call(advice$test, c(list(Species ~ ., quote(two), "lda", "knn:1",
                                       positive = "virginica"), advice$arguments))
  expect_s3_class(found, "htest")
  expect_false(advise(60, n_fits = 40, metric = "kap")$promises)
})

test_that("print shows a call that R understands, and the reasons", {
  skip_without_python()
  for (about in c("learner", "rules")) {
    advice <- advise(100, about = about)
    shown <- capture.output(print(advice))
    code <- paste(shown[seq(4L, which(shown == "")[3L] - 1L - !advice$promises)], collapse = " ")
    made <- str2lang(code)
    expect_equal(as.character(made[[1L]]), advice$test)
    expect_true(is.function(match.fun(as.character(made[[1L]]))))
    if (!is.null(made$design)) expect_equal(eval(made$design), advice$arguments$design)
    expect_true(any(grepl(substr(advice$reasons[1L], 1L, 40L), shown, fixed = TRUE)))
  }
  expect_match(paste(capture.output(advise(2000)), collapse = " "), "cannot promise")
  of_tails <- paste(advise(100, loss = "squared")$reasons, collapse = " ")
  expect_match(of_tails, "ratios (contrast = \"ratio\") do better", fixed = TRUE)
})

test_that("advice on a formula has the formula and the data in the call to type", {
  skip_without_python()
  data <- two_species()
  shown <- function(advice) paste(capture.output(print(advice)), collapse = " ")
  expect_match(shown(advise(Species ~ Sepal.Width, data, n_fits = 20)), fixed = TRUE,
               "_test(Species ~ Sepal.Width, data, learner, other, ")
  expect_match(shown(advise(Species ~ ., data, subset = Sepal.Width > 2.5)), "subset = Sepal.Width > 2.5\\)")
  expect_match(shown(advise(Species ~ ., data, metric = "f1")), "positive = \\)")
  expect_match(shown(advise(Species ~ ., data, metric = "f1", positive = "virginica")),
               "positive = \"virginica\"\\)")
})

test_that("what cannot be answered is refused", {
  skip_without_python()
  expect_refused(
    advise() ~ "'n' is missing: give the number of observations",
    advise(60, goal = "both") ~ "'goal' must be one of",
    advise(60, n_fits = 0) ~ "n_fits",
    advise(60, loss = "none") ~ "loss",
    advise(60, loss = "log", metric = "f1") ~ "exclude each other",
    advise(Species ~ ., two, loss = "log", metric = "f1") ~ "exclude each other")
})
