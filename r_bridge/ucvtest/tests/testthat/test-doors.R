# From what other packages made to losses; the numbers by hand, in R.
two <- droplevels(subset(iris, Species != "setosa"))[c("Sepal.Length", "Sepal.Width", "Species")]

test_that("losses may be functions of labels", {
  skip_without_python()
  labels <- data.frame(a = rep(c("no", "yes"), 10), b = rep("yes", 20))
  losses <- function(loss) prediction_losses(rep(c("no", "yes"), each = 10), labels, loss = loss)
  wrong <- function(truth, prediction) as.numeric(truth != prediction)
  expect_equal(losses(wrong)$means, losses("zero_one")$means)
  expect_equal(losses("accuracy")$means, losses("zero_one")$means)
})

test_that("tables of folds become losses", {
  skip_without_python()
  table <- data.frame(truth = two$Species, fold = rep(1:5, 20), row = 100:1,
                      a = rev(two$Species), b = two$Species)
  losses <- as_losses(table, truth = "truth", predictions = c("a", best = "b"), fold = "fold")
  expect_equal(rowMeans(losses$means), c(a = 1, best = 0))
  grouped <- as_losses(table, truth = "truth", predictions = c("a", "b"), fold = "fold",
                       groups = table$fold)
  expect_equal(grouped$n_groups, 5L)
  without <- function(column) {
    table[3, column] <- NA
    as_losses(table, truth = "truth", predictions = "a", fold = "fold", row = "row")
  }
  of_tune <- data.frame(id = paste0("Fold", table$fold), .row = 1:100, obs = table$truth,
                        .pred_class = replace(table$b, 3, NA))
  summarized <- of_tune[setdiff(names(of_tune), "id")]
  both <- rbind(transform(of_tune, .config = "1"), transform(of_tune, .config = "2"))
  twice <- rbind(table, table)
  expect_refused(
    as_losses(table, truth = "y", predictions = "a", fold = "fold") ~ "'x' has no column 'y'",
    as_losses(twice, truth = "truth", predictions = "a", fold = "fold", row = "row") ~ "tested twice in one",
    without("fold") ~ "'x\\$fold' has missing values in 1 row",
    without("row") ~ "'x\\$row' has missing values in 1 row",
    without("a") ~ "'predictions\\$a' has missing values in 1 row",
    as_losses(list(tree = of_tune), truth = "obs") ~ "'predictions\\$tree' has missing values in 1 row",
    as_losses(both, truth = "obs") ~ "keep one of .config",
    as_losses(of_tune) ~ "'truth' is missing",
    as_losses(summarized, truth = "obs") ~ "take summarize = FALSE",
    as_losses(3) ~ "'x' must be what caret::train",
    as_losses(list(table)) ~ "must have a name for each learner")
})

test_that("every test takes losses of a design that it admits, or says why not", {
  skip_without_python()
  set.seed(1)
  of_design <- function(design, loss = NULL) evaluate_learners(
    Species ~ ., two, c("lda", "knn:5"), design = design, loss = loss)
  folds <- of_design(10)
  for (test in list(corrected_t_test, naive_t_test, bayesian_t_test, fold_covariance_test,
                    cross_validation_wald_test, mcnemar_learners_test))
    expect_s3_class(test(folds), "ucvtest")
  halves <- of_design(k_fold(2, 5))
  for (test in list(five_by_two_t_test, five_by_two_f_test)) expect_s3_class(test(halves), "ucvtest")
  expect_s3_class(hold_out_test(of_design(hold_out())), "ucvtest")
  expect_s3_class(conservative_z_test(of_design(split_halves(3, 2))), "ucvtest")
  expect_s3_class(nested_cross_validation_test(of_design(nested_k_fold(3, 2))), "ucvtest")
  expect_s3_class(ustat_test(of_design(disjoint_sets(20, 40)), variance = "jackknife"), "ucvtest")
  expect_s3_class(delong_learners_test(of_design(hold_out(), "auc")), "ucvtest")
  expect_s3_class(influence_test(of_design(k_fold(5, 100, stratify = TRUE), "auc")), "ucvtest")
  for (test in list(leave_pair_out_test, permutation_complexity_test))
    expect_error(test(folds, "lda"), class = "python_ValueError")
})

test_that("predictions and scores that cannot be used are refused", {
  run <- function(design) corrected_t_test(two[1:2], two$Species, "lda", design = design)
  expect_refused(
    prediction_losses(two$Species, two$Species) ~ "must be a data frame or a list with a name",
    score_losses(list(a = 1:3, b = 1:4), 8, 2) ~ "scores\\$b has 4 scores, but 3 are needed",
    score_losses(data.frame(a = factor(c(.9, .8))), 8, 4) ~ "'scores\\$a' is a factor: make numbers of it",
    score_losses(data.frame(a = c("0.9", "0.8")), 8, 4) ~ "'scores\\$a' is text: make numbers of it by as.numeric",
    run(list(1:60, 20:90)) ~ "look like learning sets",
    run("ten") ~ "'design' must be a number of folds, a list of row numbers")
})
