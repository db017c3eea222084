# Every test: formulas and matrices, R functions, random numbers, groups, and what its options change.
two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), c(1, 2, 5)]
labels <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$class
scores <- function(x, y, xnew) predict(MASS::lda(x, y), xnew)$x[, 1]
patient <- rep(1:20, each = 3)

# Arguments that make each quick, and for each argument of its own a value that changes the result.
quick <- list(
  conservative_z_test = list(design = split_halves(3, 2)),
  nested_cross_validation_test = list(design = nested_k_fold(4, 2)),
  influence_test = list(n_repeats = 60, variance = "influence"),
  diebold_mariano_test = list(horizon = 3),
  ustat_test = list(learn_size = 10, n_pairs = 60, variance = "jackknife"),
  leave_pair_out_test = list(n_permutations = 9),
  permutation_complexity_test = list(n_permutations = 20))
changes <- list(
  bayesian_t_test = alist(rope = 0.2),
  cross_validation_wald_test = alist(variance = "within_fold"),
  diebold_mariano_test = alist(horizon = 4, variance = "bartlett"),
  fold_covariance_test = alist(n_folds = 5, estimator = "jackknife", rho = NULL, n_repeats = 2),
  influence_test = alist(n_folds = 3, metric = "error", n_repeats = 61, scheme = "repeated",
                         variance = "term_1"),
  leave_pair_out_test = alist(pvalue = "supremum", n_permutations = 19),
  permutation_complexity_test = alist(n_permutations = 21, sampling = "bootstrap", delta = 0.2),
  ustat_test = alist(learn_size = 9, n_pairs = 61, variance = "midpoint", interval = "wald"))
# What all tests have is looked at below, and what ends draws early in Python.
common <- c("x", "y", "learner", "other", "design", "loss", "scoring", "null_value", "alternative",
            "conf.level", "positive", "pos_label", "groups", "group_weight", "weights", "n_jobs",
            "metric", "checkpoint", "max_seconds", "max_fits", "tol", "contrast", "stop_after",
            "n_simulations", "interval", "...")

for (name in sort(grep("_test$", getNamespaceExports("ucvtest"), value = TRUE)))
  test_that(paste(name, "has both interfaces, R functions, groups, and all its options"), {
    skip_without_python()
    test <- get(name)
    takes <- names(formals(getS3method(name, "default")))
    compares <- "other" %in% takes
    learners <- if (compares) list("lda", "knn:3") else list("lda")
    rows <- if (compares) two else two[c(1:5, 31:35), ]
    run <- function(..., seed = 7, first = learners[[1L]], data = quote(rows[1:2])) {
      set.seed(seed)
      arguments <- utils::modifyList(as.list(quick[[name]]), list(...), keep.null = TRUE)
      call <- c(list(data, if (data[[1L]] == "~") quote(rows) else quote(rows$Species), first), learners[-1L])
      suppressWarnings(do.call(test, c(call, arguments)))
    }
    all_of <- function(result) list(numbers(result), result$diagnostics)
    default <- run()
    expect_s3_class(default, c("ucvtest", "htest"), exact = TRUE)
    by_formula <- run(data = quote(Species ~ .))
    expect_equal(numbers(by_formula), numbers(default))
    expect_equal(by_formula$data.name, "Species ~ . in rows")
    of_function <- if (name %in% c("delong_learners_test", "leave_pair_out_test"))
      run(first = scores, positive = "virginica")
    else if (name == "influence_test") run(first = labels, metric = "error", scheme = "bootstrap")
    else run(first = labels)
    by_name <- if (name == "influence_test") run(metric = "error", scheme = "bootstrap") else default
    expect_equal(of_function$estimate, by_name$estimate, ignore_attr = TRUE)
    # The last rows of a series are not drawn.
    expect_equal(identical(all_of(run(seed = 8)), all_of(default)), name == "diebold_mariano_test")
    expect_output(print(default), "data:  ")
    expect_error(run(folds = 3), "unknown argument 'folds'", fixed = TRUE)
    if (compares && name != "diebold_mariano_test") {
      expect_equal(numbers(run(groups = seq_len(60))), numbers(default))
      expect_equal(run(groups = patient)$diagnostics$n_groups, 20L)
    }
    given <- changes[[name]]
    expect_equal(setdiff(takes, c(common, names(given))), character())
    # Common arguments go one way for all.
    if (name %in% c("corrected_t_test", "fold_covariance_test", "cross_validation_wald_test"))
      given <- c(as.list(given), alternative = "less", conf.level = 0.8)
    for (argument in names(given)) {
      changed <- do.call(run, given[argument])
      expect_false(identical(all_of(changed), all_of(default)), info = argument)
    }
  })

test_that("a comparison is an htest with everything that R prints", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  expect_named(result$statistic, "t")
  expect_equal(result$parameter, c(df = 59))
  expect_equal(result$null.value, 0, ignore_attr = TRUE)
  expect_equal(attr(result$conf.int, "conf.level"), 0.95)
  expect_equal(result$data.name, "x and y")
  expect_equal(result$settings$learn_size, 20L)
  # The default interval of a difference of error rates has a scale of its own.
  plain <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20, interval = "wald")
  expect_equal(unname(plain$statistic), unname(plain$estimate) / plain$stderr)
  alone <- seeded(x, y, "lda", n_pairs = 400)
  expect_null(c(alone$p.value, alone$statistic))
  expect_true(is.na(tidy(alone)$p.value))
  expect_equal(seeded(x, y, "lda", n_pairs = 400, null_value = 0.5)$null.value, 0.5, ignore_attr = TRUE)
  # An exact test shows its counts, and an F test has neither an interval nor one degree of freedom.
  exact <- mcnemar_learners_test(x, y, "lda", "knn:1", design = k_fold(5))
  expect_equal(exact$statistic, c(only_first_wrong = exact$diagnostics$only_first_wrong))
  expect_null(exact$parameter)
  f <- five_by_two_f_test(x, y, "lda", "knn:3")
  expect_equal(f$parameter, c("num df" = 10, "denom df" = 5))
  expect_null(f$conf.int)
  expect_null(bayesian_t_test(x, y, "lda", "knn:3")[["p.value"]])
  expect_match(message_of(mcnemar_learners_test(x, y, "lda")), "^mcnemar_learners_test\\(\\) compares two learners: pass other")
})

test_that("the second level is the positive class, and positive names another one", {
  skip_without_python()
  positive <- function(...) seeded(x, ..., n_pairs = 20)$settings$pos_label
  expect_equal(positive(y, "lda"), "versicolor")
  expect_equal(positive(y, "lda", positive = "virginica"), "virginica")
  expect_equal(positive(as.character(y), "lda"), "virginica")
  expect_equal(positive(y == "virginica", "lda"), "TRUE")
  expect_equal(positive(as.integer(y), "lda"), 2L)
  expect_equal(positive(factor(y, c("unused", levels(y))), "lda"), "versicolor")
  # A log loss of the wrong class would be far off.
  probability <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$posterior[, 2]
  both <- seeded(x, y, probability, "lda", loss = "log", n_pairs = 20, positive = "versicolor")
  expect_equal(unname(both$estimate), 0, tolerance = 1e-6)
})

test_that("an R function gets x and y as the user gave them, and a loss their labels", {
  skip_without_python()
  seen <- NULL
  spy <- function(x, y, xnew) {
    seen <<- list(x = x, y = y, xnew = xnew)
    rep("virginica", nrow(xnew))
  }
  by_name <- function(y, prediction) {
    stopifnot(is.factor(y), identical(levels(y), levels(prediction)))
    y != prediction
  }
  # The variance and the interval of errors are not those of other losses.
  run <- function(...) numbers(seeded(two_species()[-4], y, spy, learn_size = 20, n_pairs = 10,
                                      variance = "jackknife", interval = "wald", ...))
  expect_equal(run(loss = by_name), run())
  expect_s3_class(seen$x, "data.frame")
  expect_equal(dim(seen$x), c(20L, 3L))
  expect_equal(levels(seen$y), levels(y))
  expect_equal(length(intersect(rownames(seen$x), rownames(seen$xnew))), 0L)
  squared <- seeded(mpg ~ wt + hp, mtcars, "ridge:1", n_pairs = 50,
                    other = function(x, y, xnew) rep(mean(y), nrow(xnew)))
  expect_equal(squared$settings$loss, "squared")
  expect_lt(squared$estimate, 0)
})

test_that("a test that was broken off goes on from its folder", {
  skip_without_python()
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  limit <- 8
  own <- function(x, y, xnew) {
    limit <<- limit - 1
    if (limit < 0) stop("power cut")
    lda_in_r(x, y, xnew)
  }
  run <- function(...) seeded(x, y, own, "knn:1", variance = "few", ...)[c("estimate", "p.value")]
  expect_match(message_of(run(checkpoint = folder)), "power cut")
  limit <- 1000
  expect_equal(run(checkpoint = folder), run())
  expect_match(message_of(run(checkpoint = 3)), "checkpoint must be the name of a folder")
})

test_that("designs, sizes by class and synonyms reach Python", {
  skip_without_python()
  fits <- function(design) corrected_t_test(x, y, "lda", design = design)$n_fits
  expect_equal(fits(5), 5L)
  expect_equal(fits(k_fold(5, n_repeats = 3)), 15L)
  expect_equal(fits(random_splits(7, 0.2)), 7L)
  expect_equal(hold_out_test(x, y, "lda", design = hold_out(0.5))$settings$learn_size, 30L)
  expect_lte(seeded(x, y, "lda", "knn:3", max_fits = 300)$n_fits, 300)
  expect_error(fits(61), "n_folds = 61", class = "python_ValueError")
  expect_error(fits(hold_out()), "design", class = "python_ValueError")
  by_class <- function(size) unlist(
    seeded(x, y, "lda", loss = "auc", learn_size = size, n_pairs = 20)$settings$learn_size_by_class)
  expect_equal(by_class(c(9, 11)), c(9L, 11L))
  expect_refused(
    fits("five") ~ "'design' must be a number of folds",
    by_class(c(9, 11, 3)) ~ "got c\\(9, 11, 3\\)",
    by_class(c(9, NA)) ~ "learn_size must not contain NA")
  run <- function(...) {
    set.seed(7)
    numbers(influence_test(x, y, "lda", ..., n_repeats = 20))
  }
  expect_equal(run(scoring = "roc_auc"), run(metric = "auc"))
  expect_equal(run(loss = "Accuracy"), run(metric = "error"))
  expect_refused(
    run(loss = "auc", metric = "error") ~ "name two different things",
    run(loss = function(y, p) y != p) ~ "for influence_test\\(\\), got 'R function'",
    influence_test(x, y, "lda", max_fits = 100) ~ "testing every pair takes 280: raise it to 280 or more")
  expect_s3_class(leave_pair_out_test(x[c(1:5, 31:35), ], y[c(1:5, 31:35)], "ridge:1", n_permutations = "exact"),
                  "htest")
  # An R function sees the permuted labels, so its p-value is no constant.
  few <- two[c(1:5, 31:35), ]
  set.seed(7)
  permuted <- leave_pair_out_test(few[1:2], few$Species, scores, n_permutations = 19, positive = "virginica")
  expect_gt(length(permuted$diagnostics$null_errors), 1L)
})

test_that("light codes", {
  skip_without_python()
  expect_equal(light_code_bounds(0, 12, 6), c(lower = 132, upper = 132), ignore_attr = TRUE)
  expect_named(attr(light_code_bounds(0, 12, 6), "source"), c("lower", "upper"))
  # As large as 60 choose 30, which a double cannot hold exactly: never below it.
  expect_gte(light_code_bounds(450, 60, 30)[["upper"]], 118264581564861424)
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
    select_model(two[1:2], two$Species, list("knn:1", mine = labels), n_permutations = 5,
                 n_folds = 3, n_left_out = 4, ...)
  }
  chosen <- run()
  expect_equal(chosen$table$learner, c("knn:1", "mine"))
  expect_equal(chosen$best, chosen$table$learner[chosen$choices[["permutation"]]])
  expect_equal(run(criterion = "kfold", complexity = c(9, 3))[c("criterion")], list(criterion = "kfold"))
  expect_equal(run(complexity = c(9, 3))$table$complexity, c(9, 3))
  expect_equal(plot(chosen), chosen)
  expect_equal(nrow(as.data.frame(select_model(mpg ~ wt, mtcars, c("ridge:100", "ridge:1")))), 2L)
  expect_match(message_of(select_model(two[1:2], two$Species)), "'learners' is missing: name some, such as")
})
