set.seed(8)
rows <- data.frame(patient = rep(paste0("p", 1:20), each = 3), a = rnorm(60), b = rnorm(60))
rows$y <- factor(ifelse(rows$a + rnorm(60) > 0, "ill", "well"))

test_that("groups are a column by name, ~ column, an expression, or a vector", {
  skip_without_python()
  run <- function(...)
    numbers(drawn(3, corrected_t_test(..., learner = "lda", other = "knn:3", design = 5)))
  by_vector <- run(rows[c("a", "b")], rows$y, groups = rows$patient)
  expect_equal(run(y ~ ., rows, groups = patient), by_vector)
  expect_equal(run(y ~ ., rows, groups = "patient"), by_vector)
  expect_equal(run(y ~ ., rows, groups = ~patient), by_vector)
  expect_equal(run(y ~ ., rows, groups = factor(patient)), by_vector)
  expect_equal(run(rows[c("a", "b", "patient")], rows$y, groups = "patient"), by_vector)
  in_function <- function(which) run(y ~ a + b, rows, groups = which)
  expect_equal(in_function("patient"), by_vector)
  expect_false(identical(run(y ~ a + b, rows), by_vector))
})

test_that("group_weight decides what counts the same", {
  skip_without_python()
  uneven <- rows[-(1:2), ]
  run <- function(...) drawn(3, hold_out_test(y ~ a + b, uneven, "lda", groups = patient, ...)$estimate)
  expect_equal(run(), run(group_weight = "group"))
  expect_false(identical(run(), run(group_weight = "row")))
})

test_that("tests of permutations take groups of one class", {
  skip_without_python()
  one_class <- transform(rows, y = factor(rep(rep(c("ill", "well"), 10), each = 3)))
  for (test in list(leave_pair_out_test, permutation_complexity_test))
    expect_s3_class(test(y ~ a + b, one_class, "ridge:1", n_permutations = 9, groups = patient), "htest")
})

test_that("comparisons, selections and plans take groups", {
  skip_without_python()
  found <- drawn(3, compare_learners(y ~ a + b, rows, c("lda", "knn:3"), "corrected_t", groups = patient))
  alone <- drawn(3, corrected_t_test(y ~ a + b, rows, "lda", "knn:3", groups = patient))
  expect_equal(found$p.value, alone$p.value)
  chosen <- select_model(y ~ a + b, rows, c("knn:1", "knn:5"), n_permutations = 5, n_folds = 3,
                         groups = patient)
  expect_equal(nrow(chosen$table), 2L)
  planned <- plan_sample_size(y ~ a + b, rows, "lda", "knn:3", difference = 0.2, groups = patient)
  expect_match(planned$verdict, "20 clusters")
})

test_that("learning sets can have the proportions of the classes", {
  skip_without_python()
  run <- function(...) drawn(3, corrected_t_test(y ~ a + b, rows, "lda", design = k_fold(5, ...)))$
    diagnostics$resample_means
  expect_false(identical(run(stratify = TRUE), run()))
  expect_equal(run(stratify = FALSE), run())
  expect_output(print(k_fold(5, stratify = TRUE)), "stratify = TRUE")
})

test_that("groups that cannot be used are refused", {
  run <- function(...) hold_out_test(y ~ a + b, rows, "lda", ...)
  expect_refused(
    run(groups = "hospital") ~ "'groups' is \"hospital\", and 'data' has no such column",
    run(groups = ~ a + b) ~ "'groups' must name one column, got ~a \\+ b",
    run(groups = replace(patient, 4, NA)) ~ "'groups' has missing values in 1 row: drop these",
    run(groups = patient, group_weight = "patient") ~ "'group_weight' must be one of \"group\", \"row\"",
    hold_out_test(rows["a"], rows$y, "lda", groups = 1:3) ~ "for each of 60 rows, or .* got integer of length 3")
})

test_that("rows are chosen by subset and na.action, groups with them", {
  skip_without_python()
  run <- function(...) numbers(drawn(3, hold_out_test(..., learner = "lda")))
  few <- subset(rows, a < 1)
  expect_equal(run(y ~ a + b, rows, subset = a < 1, groups = patient),
               run(few[c("a", "b")], few$y, groups = few$patient))
  holes <- rows
  holes$b[c(2, 7)] <- NA
  expect_equal(run(y ~ a + b, holes, na.action = na.omit), run(y ~ a + b, rows[-c(2, 7), ]))
})
