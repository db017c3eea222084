# What users read, of every class of object.
flowers <- droplevels(subset(iris, Species != "setosa"))[c("Sepal.Length", "Sepal.Width", "Species")]

shown <- function(expr, seed = 1) {
  set.seed(seed)
  force(expr)
}

test_that("results are printed", {
  skip_without_python()
  local_reproducible_output(width = 80)
  expect_snapshot({
    shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5"))
    shown(ustat_test(Species ~ ., flowers, "lda", n_pairs = 400, conf.level = 0.9))
    shown(bayesian_t_test(Species ~ ., flowers, "lda", "knn:1", conf.level = 0.9))
    shown(mcnemar_learners_test(Species ~ ., flowers, "lda", "knn:5"))
    shown(delong_learners_test(Species ~ ., flowers, "lda", "knn:5", alternative = "less"))
    shown(five_by_two_f_test(Species ~ ., flowers, "lda", "knn:5"))
    shown(leave_pair_out_test(Species ~ ., flowers[c(1:8, 51:58), ], "lda", n_permutations = 99))
    shown(permutation_complexity_test(Species ~ ., flowers, "knn:3", n_permutations = 20))
    shown(fold_covariance_test(Species ~ ., flowers, "lda", rho = NULL))
    shown(ustat_test(mpg ~ wt + hp, mtcars, "ridge:1", "ridge:100", contrast = "ratio",
                     n_pairs = 400))
    shown(hold_out_test(Species ~ ., flowers, "lda", "knn:5", groups = rep(1:50, each = 2)))
  })
})

test_that("summaries are printed", {
  skip_without_python()
  local_reproducible_output(width = 80)
  expect_snapshot({
    summary(shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5")), conf.level = 0.9,
            notes = TRUE)
    summary(shown(compare_learners(Species ~ ., flowers, c("lda", "knn:5"), "corrected_t")))
  }, transform = function(lines) sub("Seconds: +[0-9.]+", "Seconds: -", lines))
})

test_that("other objects are printed", {
  skip_without_python()
  local_reproducible_output(width = 80)
  expect_snapshot({
    result <- shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5"))
    noninferiority(result, 0.1)
    equivalence(result, -0.2, 0.1)
    shown(compare_learners(Species ~ ., flowers, c("lda", "knn:5", "majority"), "corrected_t"))
    shown(select_model(mpg ~ wt + hp, mtcars, c("ridge:100", "ridge:1")))
    losses <- shown(evaluate_learners(Species ~ ., flowers, c("lda", "knn:5"), design = 5))
    losses
    prediction_losses(flowers$Species, data.frame(a = flowers$Species))
    shown(corrected_t_test(Species ~ ., flowers, "lda", "lda"))
    shown(compare_learners(Species ~ ., flowers, c("lda", "knn:5"), c("corrected_t", "bayesian_t")))
    shown(select_model(Species ~ ., flowers, c("lda", "knn:5"), n_permutations = 10))
    score_losses(list(a = c(.8, .7, .9), b = c(.7, .75, .8)), n_learn = 80, n_test = 40)
    structure(class = "ucvtest_advice", list(
      test = "corrected_t_test", arguments = list(design = k_fold(10, n_repeats = 10)),
      n_learners = 2L, promises = TRUE, reasons = c("It covers.", "It needs 200 model fits.")))
    structure(class = "ucvtest_plan", list(
      data.name = "x and y", verdict = "80 observations give 80% power.",
      table = data.frame(n = c(40, 80), se = c(.05, .03), width = c(.2, .12), power = c(.5, .8))))
    r_learner("ranger", num.trees = 100)
    k_fold(5, stratify = TRUE)
    own_folds(split(1:9, rep(1:3, 3)))
  })
})

test_that("pictures of ggplot2 have the learners on the axis", {
  skip_if_not_installed("ggplot2")
  skip_without_python()
  result <- shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5"))
  drawn <- ggplot2::autoplot(result)
  expect_s3_class(drawn, "ggplot")
  expect_equal(as.character(drawn$data$label), "lda - knn:5")
  expect_equal(drawn$labels$x, "difference in error rate when learning from\n90 observations")
  several <- shown(compare_learners(Species ~ ., flowers, c("lda", "knn:5", "majority"), "corrected_t"))
  expect_equal(nrow(ggplot2::autoplot(several)$data), 3L)
  expect_silent({
    grDevices::pdf(NULL)
    print(ggplot2::autoplot(several))
    grDevices::dev.off()
  })
})

test_that("tibbles come where tibble is installed", {
  skip_if_not_installed("tibble")
  skip_without_python()
  result <- shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5"))
  for (table in list(tidy(result), glance(result), tidy(compare_learners(
    Species ~ ., flowers, c("lda", "knn:5"), "corrected_t")),
    tidy(noninferiority(result, 0.1)), tidy(prediction_losses(1:3 / 2, list(a = 1:3))),
    tidy(select_model(mpg ~ wt, mtcars, c("ridge:100", "ridge:1"))))) expect_s3_class(table, "tbl_df")
})

test_that("the papers of a result are named", {
  skip_without_python()
  result <- shown(corrected_t_test(Species ~ ., flowers, "lda", "knn:5"))
  expect_match(toBibtex(result), "nadeau2003", all = FALSE)
  expect_match(methods_text(result), "[@nadeau2003]", fixed = TRUE)
  versions <- paste0("from R ", getRversion(), " with the packages ucvtest ", packageVersion("ucvtest"))
  expect_match(methods_text(result), versions, fixed = TRUE)
  expect_match(citation_of(result), "^\\[nadeau2003\\]", all = FALSE)
  expect_error(methods_text(1), "'result' must be the result of one of this package's tests")
  expect_gte(length(citation("ucvtest")), 6L)
})

test_that("comparisons and plans say what was done", {
  skip_without_python()
  set.seed(1)
  found <- compare_learners(Species ~ ., flowers, c("lda", "knn:5", "majority"), "hold_out",
                            correction = "BH")
  said <- methods_text(found)
  expect_length(said, 4L)
  # Every text has the correction as it was typed.
  lines <- capture.output(print(summary(found)))
  for (text in list(capture.output(print(found)), lines, said)) expect_false(any(grepl("fdr_bh", text)))
  expect_output(print(found), "adjustment:  BH over pairs.*p-values adjusted \\(BH\\)")
  expect_match(lines, "Correction: +BH$", all = FALSE)
  expect_equal(nchar(grep("Correction:", lines, value = TRUE)), nchar(lines[3L]))
  expect_equal(glance(found)$correction, "BH")
  expect_equal(said[4L], "P-values of 3 pairs of learners were adjusted (BH) within each test.")
  rules <- correct_losses(list(a = rep(c(TRUE, FALSE), c(60, 20)), b = rep(c(TRUE, FALSE), 40)))
  plan <- plan_sample_size(rules, difference = 0.1)
  expect_match(methods_text(plan), plan$verdict, fixed = TRUE)
  expect_match(methods_text(plan), "planned from a pilot sample of 80 observations, without a model fit")
  ledger <- plan_sample_size(rules, difference = 0.1, asks = 5, promotions = 1)
  expect_match(ledger$verdict, "ask 5 of a ledger after 1 promotions, level 0.00556")
})

test_that("a Python that cannot be used comes with the reason", {
  before <- options(ucvtest.python = file.path(tempdir(), "no-python"))
  on.exit(options(before))
  running <- .session$call
  .session$call <- NULL
  on.exit(.session$call <- running, add = TRUE)
  found <- ucvtest_available()
  expect_false(found)
  expect_match(attr(found, "reason"), "no-python does not exist")
})
