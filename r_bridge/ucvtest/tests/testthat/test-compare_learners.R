two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), c(1, 2, 5)]
mine <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$class

compared <- function(learners = c("lda", "knn:1"), tests = c("corrected_t", "naive_t"), ...,
                     seed = 7) {
  set.seed(seed)
  compare_learners(two[1:2], two$Species, learners, tests, ...)
}

test_that("every row is the test by itself, and fits are shared", {
  skip_without_python()
  found <- compared()
  expect_s3_class(found, c("ucvtest_comparison", "data.frame"), exact = TRUE)
  set.seed(7)
  alone <- as.data.frame(corrected_t_test(two[1:2], two$Species, "lda", "knn:1"))
  shared <- c("estimate", "std.error", "statistic", "p.value", "parameter", "conf.low",
              "conf.high", "n_fits")
  expect_equal(as.data.frame(found)[1L, shared], alone[shared])
  expect_equal(attr(found, "about")$n_fits, 20L)
  expect_equal(attr(found, "about")$fits$tests, "corrected_t, naive_t")
  expect_equal(glance(found)$n_tests, 2L)
  expect_false("conf.level" %in% names(tidy(found)))
})

test_that("intervals of all rows have any level", {
  skip_without_python()
  found <- compared(c("lda", "knn:1", "majority"), "corrected_t")
  ends <- confint(found, level = 0.8)
  expect_equal(dimnames(ends), list(paste("corrected_t:", c("lda - knn:1", "lda - majority",
                                                            "knn:1 - majority")), c("10 %", "90 %")))
  expect_equal(unname(ends), unname(as.matrix(tidy(found, conf.level = 0.8)[c("conf.low", "conf.high")])))
  one_sided <- compared(alternative = "less", conf.level = 0.8)
  expect_equal(colnames(confint(one_sided)), c("0 %", "80 %"))
  expect_true(all(one_sided$conf.low == -Inf))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (each in list(found, one_sided)) expect_equal(plot(each), each)
})

test_that("pairs are adjusted within each test, as p.adjust does", {
  skip_without_python()
  learners <- list(linear = "lda", "knn:1", r = mine, "majority")
  found <- compared(learners)
  expect_equal(unique(c(found$learner, found$other)), c("linear", "knn:1", "r", "majority"))
  for (test in unique(found$test)) {
    rows <- as.data.frame(found)[found$test == test, ]
    known <- !is.nan(rows$p.value)
    expected <- p.adjust(ifelse(known, rows$p.value, 1), "holm")
    expect_equal(rows$adj.p.value[known], expected[known])
  }
  # The same rule in R and in Python differs nowhere.
  expect_match(found$status[found$learner == "linear" & found$other == "r"], "degenerate")
  plain <- compared(learners, correction = NULL)
  expect_equal(plain$adj.p.value, plain$p.value)
  expect_output(print(plain), "adjustment:  none")
})

test_that("corrections have the names of p.adjust", {
  skip_without_python()
  set.seed(1)
  losses <- correct_losses(list(one = runif(80) < 0.9, two = runif(80) < 0.7,
                                three = runif(80) < 0.75, four = runif(80) < 0.6))
  for (method in c("hommel", "BY", "none", "fdr")) {
    found <- compare_learners(losses, "mcnemar", correction = method)
    expect_equal(found$adj.p.value, p.adjust(found$p.value, method))
  }
})

test_that("tests have labels and options", {
  skip_without_python()
  found <- compared(tests = list(long = list("corrected_t", design = k_fold(5, 3)),
                                 list("fold_covariance", rho = 0.3), "hold_out"))
  expect_equal(found$test, c("long", "fold_covariance", "hold_out"))
  expect_equal(found$n_fits, c(30L, 20L, 2L))
  set.seed(7)
  expect_equal(found$p.value[2L],
               fold_covariance_test(two[1:2], two$Species, "lda", "knn:1", rho = 0.3)$p.value)
  quick <- compared(tests = list(list("ustatistic", n_pairs = 300, learn_size = 20)))
  expect_equal(quick$test, "ustatistic")
  shared <- compared(c("lda", "knn:1", "majority"),
                     list(list("ustatistic", design = disjoint_sets(20, 10))))
  expect_equal(attr(shared, "about")$n_fits, 60L)
})

test_that("loss, seed and formula reach it, and its parts are data frames", {
  skip_without_python()
  found <- compared()
  expect_equal(glance(compared(tests = "delong", loss = "auc"))$loss, "auc")
  expect_false(identical(compared(seed = 8)$estimate, found$estimate))
  set.seed(7)
  by_formula <- compare_learners(Species ~ ., two, c("lda", "knn:1"), c("corrected_t", "naive_t"))
  expect_equal(by_formula$p.value, found$p.value)
  expect_output(print(by_formula), "data:  Species ~ . in two, 60 observations", fixed = TRUE)
  expect_match(summary(found, conf.level = 0.9)$text, "90% low")
  expect_s3_class(found[1L, ], "data.frame", exact = TRUE)
  expect_s3_class(found[c("test", "p.value")], "data.frame", exact = TRUE)
})

test_that("what cannot be compared is refused", {
  skip_without_python()
  expect_refused(
    compared("lda") ~ "a comparison needs two: use a test of one learner, such as ustat_test\\(\\)",
    compared(tests = "t") ~ "test 't' is unknown",
    compared(tests = list(list("corrected_t", folds = 3))) ~ "has no option 'folds'",
    compared(tests = list(list(design = 3))) ~ "'tests' must contain names of tests",
    compared(list(a = "lda", a = "knn:1")) ~ "several called 'a'",
    compared(corection = "holm") ~ "unknown argument 'corection'",
    compared(correction = "bh") ~ "'correction' must be one of \"holm\", .*got \"bh\": did you mean \"BH\"\\?",
    compared(correction = c("BH", "BY")) ~ "got c\\(\"BH\", \"BY\"\\)",
    compared(checkpoint = 3) ~ "checkpoint must be the name of a folder",
    compare_learners(two[1:2], two$Species) ~ "'learners' is missing: name two or more, such as c\\(\"lda\"")
})

test_that("a comparison that was broken off goes on from its folder", {
  skip_without_python()
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  fits <- 0
  state <- new.env()
  broken_at <- function(limit, checkpoint = folder, dropped = 1) {
    state$limit <- limit
    own <- function(x, y, xnew) {
      fits <<- fits + 1
      if (fits > state$limit) stop("power cut")
      predict(MASS::lda(x[-dropped, ], y[-dropped]), xnew)$class
    }
    set.seed(1)
    compare_learners(two[1:2], two$Species, list(own = own, "knn:1"), "corrected_t",
                     checkpoint = checkpoint)
  }
  expect_match(message_of(broken_at(8)), "power cut")
  before <- fits
  # Another function, or one with another value enclosed, is another learner.
  expect_match(message_of(broken_at(Inf, dropped = 2)), "is of another call: learner own differs")
  expect_equal(fits, before)
  again <- broken_at(Inf)
  expect_lt(fits - before, 10)
  whole <- broken_at(Inf, NULL)
  expect_equal(as.data.frame(again), as.data.frame(whole))
})
