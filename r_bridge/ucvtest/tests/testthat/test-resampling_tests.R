two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), c(1, 2, 5)]
labels <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$class
scores <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$x[, 1]

seeded_test <- function(test, ..., seed = 7) {
  set.seed(seed)
  test(two[1:2], two$Species, ...)
}

cheap <- list(conservative_z_test = split_halves(3, 2),
              nested_cross_validation_test = nested_k_fold(4, 2))

tests <- grep("_test$", getNamespaceExports("ucvtest"), value = TRUE)
takes_design <- function(name) "design" %in% names(formals(getS3method(name, "default")))

for (name in Filter(takes_design, sort(tests)))
  test_that(paste(name, "has both interfaces, R functions, and follows set.seed"), {
    skip_without_python()
    test <- get(name)
    design <- cheap[[name]]
    run <- function(...)
      if (is.null(design)) seeded_test(test, ...) else seeded_test(test, ..., design = design)
    default <- run("lda", "knn:3")
    expect_s3_class(default, c("ucvtest", "htest"), exact = TRUE)
    set.seed(7)
    by_formula <- if (is.null(design)) test(Species ~ ., two, "lda", "knn:3")
                  else test(Species ~ ., two, "lda", "knn:3", design = design)
    expect_equal(numbers(by_formula), numbers(default))
    expect_equal(by_formula$data.name, "Species ~ . in two")
    found <- if (name == "delong_learners_test") run(scores, "knn:3", positive = "virginica")
             else run(labels, "knn:3")
    expect_equal(found$estimate, default$estimate)
    # The last rows of a series are not drawn.
    in_time <- name == "diebold_mariano_test"
    expect_equal(identical(numbers(run("lda", "knn:3", seed = 8)), numbers(default)), in_time)
    expect_false(identical(numbers(run("lda", "majority")), numbers(default)))
    expect_output(print(default), "data:  two")
    expect_match(summary(default)$text, "summary(x, notes = TRUE)", fixed = TRUE)
    expect_match(summary(default, notes = TRUE)$text, "Notes:", fixed = TRUE)
    if (!name %in% c("mcnemar_learners_test", "five_by_two_f_test", "diebold_mariano_test"))
      expect_equal(run("lda")$n_fits, default$n_fits / 2)
    expect_error(run("lda", "knn:3", folds = 3), "unknown argument 'folds'", fixed = TRUE)
  })

test_that("an exact test shows its counts, and an interval that agrees with its p-value", {
  skip_without_python()
  exact <- seeded_test(mcnemar_learners_test, "lda", "knn:1", design = k_fold(5))
  expect_equal(names(exact$statistic), "only_first_wrong")
  expect_equal(unname(exact$statistic), exact$diagnostics$only_first_wrong)
  expect_null(exact$parameter)
  ends <- as.vector(confint(exact, level = 1 - exact$p.value * 0.999))
  expect_true(ends[1L] < 0 && ends[2L] > 0)
  less <- seeded_test(hold_out_test, "lda", null_value = 0.5, alternative = "less")
  expect_equal(colnames(confint(less)), c("0 %", "95 %"))
  expect_equal(less$conf.int[1L], 0)
})

test_that("designs reach Python", {
  skip_without_python()
  fits <- function(design) seeded_test(corrected_t_test, "lda", design = design)$n_fits
  expect_equal(fits(5), 5L)
  expect_equal(fits(k_fold(5, n_repeats = 3)), 15L)
  expect_equal(fits(random_splits(7, 0.2)), 7L)
  expect_equal(seeded_test(hold_out_test, "lda", design = hold_out(0.5))$settings$learn_size, 30L)
  expect_output(print(k_fold(5, 2)), "k_fold(n_folds = 5, n_repeats = 2)", fixed = TRUE)
  expect_error(fits("five"), "'design' must be a number of folds", fixed = TRUE)
  expect_error(fits(61), "n_folds = 61", class = "python_ValueError")
  expect_error(fits(hold_out()), "design", class = "python_ValueError")
})

test_that("options of single tests", {
  skip_without_python()
  expect_false(identical(
    seeded_test(cross_validation_wald_test, "lda", variance = "within_fold")$stderr,
    seeded_test(cross_validation_wald_test, "lda")$stderr))
  wide <- seeded_test(bayesian_t_test, "lda", "knn:3", rope = 0.2)
  expect_gt(wide$diagnostics$p_rope,
            seeded_test(bayesian_t_test, "lda", "knn:3")$diagnostics$p_rope)
  expect_output(print(wide), "percent credible interval.*Verdict: Probability")
  # There is no test, and nothing that looks like one.
  expect_null(wide$p.value)
  expect_null(wide$statistic)
  f <- seeded_test(five_by_two_f_test, "lda", "knn:3")
  expect_named(f$statistic, "F")
  expect_equal(f$parameter, c("num df" = 10, "denom df" = 5))
  expect_output(print(f), "num df = 10, denom df = 5, p-value")
  expect_null(f$conf.int)
  expect_equal(message_of(seeded_test(mcnemar_learners_test, "lda")),
               "'other' is missing: the test compares two learners")
  areas <- seeded_test(corrected_t_test, "lda", loss = "auc")
  expect_equal(unname(areas$null.value), 0.5)
  less <- seeded_test(corrected_t_test, "lda", "knn:3", alternative = "less")
  expect_equal(less$conf.int[1], -Inf)
  expect_equal(attr(seeded_test(corrected_t_test, "lda", conf.level = 0.9)$conf.int, "conf.level"),
               0.9)
})
