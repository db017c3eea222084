two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), c(1, 2, 5)]
scores <- function(x, y, xnew) predict(MASS::lda(x, y), xnew)$x[, 1]
labels <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$class


test_that("influence_test has both interfaces, R functions, and every option", {
  skip_without_python()
  run <- function(..., seed = 7) {
    set.seed(seed)
    numbers(influence_test(two[1:2], two$Species, "lda", ..., n_repeats = 60))
  }
  default <- run()
  set.seed(7)
  by_formula <- influence_test(Species ~ ., two, "lda", n_repeats = 60)
  expect_equal(numbers(by_formula), default)
  expect_named(by_formula$statistic, "t")
  expect_equal(unname(by_formula$null.value), 0.5)
  for (changed in list(run(n_folds = 3), run(metric = "error"), run(scheme = "repeated"),
                       run(variance = "term_1"), run(variance = "influence"), run(null_value = 0.6),
                       run(alternative = "greater"), run(conf.level = 0.9),
                       run(other = "knn:5"), run(seed = 8)))
    expect_false(identical(changed, default))
  for (same in list(run(loss = "auc"), run(metric = "auc"), run(scoring = "roc_auc")))
    expect_equal(same, default)
  for (same in list(run(loss = "zero_one"), run(loss = "Accuracy")))
    expect_equal(same, run(metric = "error"))
  expect_match(message_of(run(loss = "auc", metric = "error")), "name two different things")
  expect_match(message_of(run(loss = function(y, p) y != p)), "loss = \"R function\" is not known to")
  expect_match(message_of(influence_test(Species ~ ., two, "lda", max_fits = 100)),
               "testing every pair takes 280: raise it to 280 or more")
  expect_equal(run(positive = "versicolor")$estimate, default$estimate, tolerance = 1e-6)
  expect_s3_class(influence_test(two[1:2], two$Species, scores, n_repeats = 40,
                                 positive = "virginica"), "htest")
  # Rows that are drawn several times, which R functions get as often.
  drawn <- function(learner) {
    set.seed(7)
    influence_test(two[1:2], two$Species, learner, metric = "error", scheme = "bootstrap",
                   n_repeats = 20)$estimate
  }
  expect_equal(drawn(labels), drawn("lda"))
})

test_that("fold_covariance_test has both interfaces, R functions, and every option", {
  skip_without_python()
  run <- function(learner = "lda", ..., seed = 7) {
    set.seed(seed)
    numbers(fold_covariance_test(two[1:2], two$Species, learner, ...))
  }
  default <- run()
  set.seed(7)
  expect_equal(numbers(fold_covariance_test(Species ~ ., two, "lda")), default)
  expect_output(print(fold_covariance_test(two[1:2], two$Species, "lda", "knn:1", rho = 0.2)),
                "assuming rho = 0.2")
  expect_equal(run(labels)[1:5], default[1:5])
  for (changed in list(run(n_folds = 5), run(rho = 0.3), run(rho = NULL), run(n_repeats = 2),
                       run(estimator = "jackknife"), run(loss = "log"), run(null_value = 0.3),
                       run(alternative = "less"), run(conf.level = 0.9), run(other = "knn:1"),
                       run(seed = 8)))
    expect_false(identical(changed, default))
  expect_match(fold_covariance_test(two[1:2], two$Species, "lda", rho = NULL)$status,
               "no test without an assumption")
})

test_that("leave_pair_out_test has both interfaces, R functions, and every option", {
  skip_without_python()
  few <- two[c(1:5, 31:35), ]
  run <- function(learner = "ridge:1", ..., seed = 7) {
    set.seed(seed)
    leave_pair_out_test(few[1:2], few$Species, learner, ...)
  }
  default <- run(n_permutations = 99)
  expect_named(default$statistic, "U")
  expect_null(default$conf.int)
  expect_equal(default$alternative, "greater")
  expect_output(print(default), "it is not true that labels and features are\\s+independent")
  expect_equal(plot(default), default)
  set.seed(7)
  expect_equal(leave_pair_out_test(Species ~ ., few, "ridge:1", n_permutations = 99)$p.value,
               default$p.value)
  expect_gt(run(pvalue = "supremum")$p.value, default$p.value)
  expect_false(run(pvalue = "wmw")$p.value == default$p.value)
  expect_false(run(n_permutations = "exact")$p.value == default$p.value)
  expect_equal(run(pos_label = "versicolor", pvalue = "wmw")$estimate, default$estimate,
               ignore_attr = TRUE)
  # An R function sees the permuted labels, so its p-value is no constant.
  permuted <- run(scores, n_permutations = 19, positive = "virginica")$diagnostics
  expect_gt(length(permuted$null_errors), 1L)
})

test_that("permutation_complexity_test has both interfaces, R functions, and every option", {
  skip_without_python()
  run <- function(learner = "lda", ..., n_permutations = 40, seed = 7) {
    set.seed(seed)
    permutation_complexity_test(two[1:2], two$Species, learner, n_permutations = n_permutations,
                                ...)
  }
  default <- run()
  expect_named(default$statistic, "e_in")
  expect_equal(plot(default), default)
  set.seed(7)
  by_formula <- permutation_complexity_test(Species ~ ., two, "lda", n_permutations = 40)
  expect_equal(numbers(by_formula), numbers(default))
  expect_equal(run(labels)$p.value, default$p.value)
  expect_equal(run(labels)$estimate, default$estimate)
  for (changed in list(run(n_permutations = 41), run(sampling = "bootstrap"),
                       run("ridge:1", loss = "squared"), run(seed = 8)))
    expect_false(identical(changed$estimate, default$estimate))
  expect_false(identical(run(delta = 0.2)$diagnostics, default$diagnostics))
})

test_that("light codes", {
  skip_without_python()
  expect_equal(light_code_bounds(0, 12, 6), c(lower = 132, upper = 132), ignore_attr = TRUE)
  expect_named(attr(light_code_bounds(0, 12, 6), "source"), c("lower", "upper"))
  # As large as 60 choose 30, which a double cannot hold exactly: never below it.
  large <- light_code_bounds(450, 60, 30)
  expect_gte(large[["upper"]], 118264581564861424)
  expect_equal(critical_values(0.05, 5, 5, "wmw"), 4L)
  table <- critical_values(0.05, c(5, 10), 5:6, "wmw")
  expect_equal(dimnames(table), list(n1 = c("5", "6"), n0 = c("5", "10")))
  expect_equal(table["5", "5"], 4L)
  expect_error(light_code_bounds(0, 12, 12), "weight", class = "python_ValueError")
})

test_that("select_model chooses among names and R functions", {
  skip_without_python()
  run <- function(...) {
    set.seed(7)
    select_model(two[1:2], two$Species, list("knn:1", mine = labels), n_permutations = 10,
                 n_folds = 3, n_left_out = 4, ...)
  }
  chosen <- run()
  expect_equal(chosen$table$learner, c("knn:1", "mine"))
  expect_equal(chosen$best, chosen$table$learner[chosen$choices[["permutation"]]])
  expect_equal(run(criterion = "kfold")$criterion, "kfold")
  expect_equal(run(complexity = c(9, 3))$table$complexity, c(9, 3))
  expect_equal(plot(chosen), chosen)
  expect_match(capture.output(print(chosen)), "best by permutation:", fixed = TRUE, all = FALSE)
  set.seed(7)
  by_formula <- select_model(mpg ~ wt, mtcars, c("ridge:100", "ridge:1"))
  expect_equal(by_formula$data.name, "mpg ~ wt in mtcars")
  expect_equal(nrow(as.data.frame(by_formula)), 2L)
  expect_equal(message_of(select_model(two[1:2], two$Species)),
               "'learners' is missing: name some, such as c(\"knn:1\", \"knn:5\")")
})
