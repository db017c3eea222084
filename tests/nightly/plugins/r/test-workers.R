# Learners in other processes: clusters, plans of future, and what these need of the session.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
set.seed(9)
patients <- data.frame(age = round(rnorm(60, 60, 8)), marker = rnorm(60),
                       site = factor(sample(c("north", "south", "west"), 60, TRUE)))
patients$ill <- factor(ifelse(patients$marker + rnorm(60) > 0, "yes", "no"), c("yes", "no"))

estimate_of <- function(learner, ..., test = corrected_t_test) {
  set.seed(4)
  unname(suppressWarnings(test(ill ~ age + marker, patients, learner, design = 3, ...))$estimate)
}

test_that("a cluster of processes changes no number", {
  skip_on_cran()
  skip_without_python()
  random <- function(x, y, xnew) sample(y, nrow(xnew), TRUE)
  one <- estimate_of(random, "MASS::lda")
  expect_equal(estimate_of(random, "MASS::lda", n_jobs = 2), one)
  failing <- function(x, y, xnew) stop("nothing learnt")
  expect_match(message_of(estimate_of(failing, n_jobs = 2)),
               "learner learner failed on split 1: nothing learnt")
  expect_equal(message_of(estimate_of(random, n_jobs = 0)),
               paste0("'n_jobs' must be a whole number, 1 or more, a cluster of ",
                      "parallel::makeCluster(), or future::plan(), got 0"))
})

test_that("workers have the packages and the variables of the session", {
  skip_on_cran()
  skip_without_python()
  cluster <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(cluster))
  evalq(envir = globalenv(), {
    ucvtest_cut <- 0.2
    ucvtest_side <- function(marker) ifelse(marker > ucvtest_cut, "yes", "no")
    ucvtest_rule <- function(x, y, xnew) ucvtest_side(xnew[, "marker"])
  })
  on.exit(rm(list = c("ucvtest_cut", "ucvtest_side", "ucvtest_rule"), envir = globalenv()), add = TRUE)
  rule <- get("ucvtest_rule", globalenv())
  # Of a package that is attached here, without its name.
  suppressPackageStartupMessages(library(rpart))
  on.exit(detach("package:rpart"), add = TRUE)
  tree <- eval(quote(function(formula, data) rpart(formula, data)), globalenv())
  one <- estimate_of(rule, tree)
  expect_equal(estimate_of(rule, tree, n_jobs = 2), one)
  expect_equal(estimate_of(rule, tree, n_jobs = cluster), one)
  # It is the user's, and still runs.
  expect_equal(parallel::clusterEvalQ(cluster, 1), list(1, 1))
  before <- future::plan(future::cluster, workers = cluster)
  on.exit(future::plan(before), add = TRUE, after = FALSE)
  expect_equal(estimate_of(rule, tree, n_jobs = future::plan()), one)
  expect_match(message_of(estimate_of(rule, n_jobs = "all")), "or future::plan(), got \"all\"",
               fixed = TRUE)
})

test_that("workers have what learners by name and formulas read, and the options of models", {
  skip_on_cran()
  skip_without_python()
  cluster <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(cluster))
  evalq(envir = globalenv(), {
    ucvtest_square <- function(v) v^2
    ucvtest_helper <- function(x, y) glm(y ~ x, binomial)
    ucvtest_fit <- function(x, y) structure(list(fit = ucvtest_helper(x, y)), class = "ucvtest_named")
    predict.ucvtest_named <- function(object, newdata, ...)
      stats::plogis(drop(cbind(1, newdata) %*% stats::coef(object$fit)))
  })
  made <- c("ucvtest_square", "ucvtest_helper", "ucvtest_fit", "predict.ucvtest_named")
  on.exit(rm(list = made, envir = globalenv()), add = TRUE)
  contrasts <- options(contrasts = c("contr.helmert", "contr.poly"))
  on.exit(options(contrasts), add = TRUE)
  run <- function(...) {
    set.seed(4)
    unname(suppressWarnings(corrected_t_test(..., design = 3, loss = "brier"))$estimate)
  }
  squared <- as.formula("ill ~ ucvtest_square(age) + marker", globalenv())
  one <- run(squared, patients, "glm", "rpart")
  numbers_of <- as.matrix(patients[1:2])
  fit <- run(numbers_of, patients$ill, r_learner("ucvtest_fit"))
  # A penalty of the coefficients, so that the contrasts matter.
  penalised <- r_learner("nnet::nnet", size = 1, decay = 1)
  coded <- run(ill ~ site, patients, penalised)
  before <- future::plan(future::cluster, workers = cluster)
  on.exit(future::plan(before), add = TRUE, after = FALSE)
  for (jobs in list(cluster, future::plan())) {
    if (inherits(jobs, "FutureStrategy"))
      parallel::clusterEvalQ(cluster, {
        rm(list = ls(globalenv()), envir = globalenv())
        options(contrasts = c("contr.treatment", "contr.poly"))
      })
    expect_equal(run(squared, patients, "glm", "rpart", n_jobs = jobs), one)
    expect_equal(run(numbers_of, patients$ill, r_learner("ucvtest_fit"), n_jobs = jobs), fit)
    expect_equal(run(ill ~ site, patients, penalised, n_jobs = jobs), coded)
  }
})

test_that("processes of a PSOCK cluster compute", {
  skip_on_cran()
  skip_without_python()
  flowers <- droplevels(subset(iris, Species != "setosa"))[c("Sepal.Length", "Sepal.Width", "Species")]
  cluster <- parallel::makePSOCKcluster(2L)
  on.exit(parallel::stopCluster(cluster))
  found <- parallel::parLapply(cluster, 1:2, function(i, data) {
    set.seed(1)
    ucvtest::hold_out_test(Species ~ ., data, "lda")$estimate
  }, data = flowers)
  set.seed(1)
  here <- hold_out_test(Species ~ ., flowers, "lda")
  expect_equal(found[[1L]], here$estimate)
  expect_identical(found[[1L]], found[[2L]])
})
