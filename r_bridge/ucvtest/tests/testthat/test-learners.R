set.seed(9)
patients <- data.frame(age = round(rnorm(60, 60, 8)), marker = rnorm(60),
                       site = factor(sample(c("north", "south", "west"), 60, TRUE)))
patients$ill <- factor(ifelse(patients$marker + rnorm(60) > 0, "yes", "no"), c("yes", "no"))

estimate_of <- function(learner, ..., test = corrected_t_test) {
  set.seed(4)
  unname(suppressWarnings(test(ill ~ age + marker, patients, learner, design = 3, ...))$estimate)
}

glmnet_by_hand <- function(x, y, xnew) {
  y <- factor(y, c("yes", "no"))
  fit <- glmnet::glmnet(x, y, "binomial", lambda = 0.1)
  predict(fit, xnew, type = "response")[, 1]
}

test_that("learners of other packages go by their names", {
  skip_without_python()
  expect_equal(estimate_of("MASS::lda"),
               estimate_of(function(x, y, xnew) predict(MASS::lda(x, y), xnew)$class))
  expect_equal(estimate_of(r_learner("e1071::svm", kernel = "linear")),
               estimate_of(function(x, y, xnew) predict(e1071::svm(x, y, kernel = "linear"), xnew)))
  for (name in c("ranger", "randomForest", "MASS::qda"))
    expect_true(is.finite(estimate_of(name)), info = name)
  expect_equal(estimate_of(r_learner("glmnet", s = 0.1), loss = "log"),
               estimate_of(glmnet_by_hand, loss = "log", positive = "no"))
  expect_equal(r_learner("ranger", num.trees = 50)$name, "ranger(num.trees = 50)")
  expect_output(print(r_learner("ranger")), "R learner ranger")
})

test_that("scores rise with the positive class, whichever that is", {
  skip_without_python()
  for (positive in c("yes", "no")) for (learner in c("MASS::lda", "e1071::svm"))
    expect_gt(estimate_of(learner, loss = "auc", positive = positive), 0.5)
})

test_that("learners with a formula see the data frame and its factors", {
  skip_without_python()
  seen <- NULL
  spy <- function(formula, data) {
    seen <<- data
    glm(formula, binomial, data)
  }
  set.seed(4)
  by_hand <- function(x, y, xnew) {
    fit <- glm(y ~ ., binomial, data.frame(x, y = y))
    levels(y)[1 + (predict(fit, data.frame(xnew), type = "response") > 0.5)]
  }
  expect_equal(estimate_of(glm), estimate_of(by_hand))
  expect_equal(estimate_of(spy), estimate_of(by_hand))
  set.seed(4)
  first <- hold_out_test(factor(ill == "yes") ~ log(age) + site, patients, spy)
  expect_s3_class(seen$site, "factor")
  expect_true("age" %in% names(seen))
  expect_equal(first$settings$learner, "spy")
  tree <- hold_out_test(ill ~ ., patients, rpart::rpart, loss = "log")
  expect_true(is.finite(tree$estimate))
  expect_true(is.finite(hold_out_test(patients[1:3], patients$ill, rpart::rpart)$estimate))
  of_marker <- function(learner) drawn(1, unname(hold_out_test(marker ~ age + site, patients, learner)$estimate))
  expect_equal(of_marker(lm), of_marker(function(x, y, xnew)
    predict(lm(y ~ ., data.frame(x, y = y)), data.frame(xnew))))
})

test_that("weights reach learners that take them, and others refuse them", {
  skip_without_python()
  weights <- rep(1:2, 30)
  weighted <- function(x, y, xnew, weights) {
    fit <- suppressWarnings(glm(y ~ ., binomial, data.frame(x, y = y), weights = weights))
    levels(y)[1 + (predict(fit, data.frame(xnew)) > 0)]
  }
  passed_on <- function(formula, data, weights) glm(formula, binomial, data, weights = weights)
  used <- function(formula, data, weights) {
    stopifnot(length(weights) == nrow(data))
    glm(formula, binomial, data, weights = weights)
  }
  expected <- estimate_of(glm, weights = weights)
  for (learner in list(weighted, passed_on, used))
    expect_equal(estimate_of(learner, weights = weights), expected)
  set.seed(4)
  by_matrix <- corrected_t_test(patients[1:2], patients$ill, glm, design = 3, weights = weights)
  expect_equal(unname(by_matrix$estimate), expected)
  expect_false(identical(estimate_of(glm, weights = marker^4), estimate_of(glm)))
  expect_refused(
    estimate_of("lda", weights = weights) ~ "learner lda takes no weights",
    estimate_of("ranger", weights = weights) ~ "ranger takes no weights")
})

test_that("what is no learner is refused with a hint", {
  run <- function(learner) hold_out_test(ill ~ age, patients, learner)
  mean_of <- function(name) paste0(": did you mean .", name, ".\\?")
  expect_refused(
    run(MASS::rlm) ~ "is a function\\(x, ...\\), and a learner is .*for lda write \"MASS::lda\"",
    run(glmnet::glmnet) ~ "or use cv.glmnet, which chooses one",
    run("rf") ~ "a function of R, such as \"glm\", \"ranger\" or by package \"MASS::lda\", see \\?learners",
    run("nopackage::f") ~ "R package 'nopackage' is not installed",
    run("MASS::ldaa") ~ mean_of("MASS::lda"),
    run("e1071::SVM") ~ mean_of("e1071::svm"),
    run("rangr") ~ mean_of("ranger"),
    run("randomforest") ~ mean_of("randomForest"),
    run("MAS::lda") ~ mean_of("MASS::"),
    run("logistc") ~ mean_of("logistic"),
    r_learner("ranger", 5) ~ "arguments of the learner must have names")
  expect_no_match(message_of(run("gbm")), "did you mean")
})

test_that("errors name the learner and the split, and keep their class", {
  skip_without_python()
  original <- structure(class = c("my_error", "error", "condition"),
                        list(message = "nothing learnt", call = quote(fit(x)), data = 1:3))
  failing <- function(x, y, xnew) stop(original)
  found <- tryCatch(hold_out_test(ill ~ age, patients, failing), my_error = identity)
  expect_equal(conditionMessage(found), "learner failing failed on split 1: nothing learnt")
  expect_identical(found$parent, original)
  expect_equal(found$data, 1:3)
  found <- tryCatch(compare_learners(ill ~ age, patients, list(mine = failing, "lda")),
                    my_error = identity)
  expect_match(conditionMessage(found), "test 'ustatistic': learner mine failed on split 1: nothing learnt")
})

test_that("workers have the packages and the variables of the session, and change no number", {
  skip_on_cran()
  skip_without_python()
  cluster <- parallel::makePSOCKcluster(2)
  on.exit(parallel::stopCluster(cluster))
  evalq(envir = globalenv(), {
    ucvtest_cut <- 0.2
    ucvtest_rule <- function(x, y, xnew) {
      ifelse(xnew[, "marker"] > ucvtest_cut + stats::rnorm(nrow(xnew)), "yes", "no")
    }
  })
  on.exit(rm(list = c("ucvtest_cut", "ucvtest_rule"), envir = globalenv()), add = TRUE)
  rule <- get("ucvtest_rule", globalenv())
  # Of a package that is attached here, without its name.
  suppressPackageStartupMessages(library(rpart))
  on.exit(detach("package:rpart"), add = TRUE)
  tree <- eval(quote(function(formula, data) rpart(formula, data)), globalenv())
  expect_equal(estimate_of(rule, tree, n_jobs = cluster), estimate_of(rule, tree))
  # It is the user's, and still runs.
  expect_equal(parallel::clusterEvalQ(cluster, 1), list(1, 1))
  failing <- function(x, y, xnew) stop("nothing learnt")
  expect_refused(
    estimate_of(failing, n_jobs = cluster) ~ "learner learner failed on split 1: nothing learnt",
    estimate_of(rule, n_jobs = 0) ~ "'n_jobs' must be a whole number, .* or future::plan\\(\\), got 0",
    estimate_of(rule, n_jobs = "all") ~ "or future::plan\\(\\), got \"all\"")
})

test_that("missing values reach R learners as they are", {
  skip_without_python()
  holes <- patients
  holes$age[3:9] <- NA
  imputing <- function(x, y, xnew) {
    center <- colMeans(x, na.rm = TRUE)
    filled <- function(z) ifelse(is.na(z), rep(center, each = nrow(z)), z)
    predict(MASS::lda(filled(x), y), filled(xnew))$class
  }
  result <- corrected_t_test(ill ~ age + marker, holes, imputing, "majority", design = 5)
  expect_true(is.finite(result$estimate))
  tree <- hold_out_test(ill ~ age + marker, holes, rpart::rpart)
  expect_equal(tree$n_obs, 60L)
  expect_equal(hold_out_test(ill ~ age + marker, holes, "lda", na.action = na.omit)$n_obs, 53L)
})

test_that("sparse matrices are taken, and survival times refused", {
  skip_without_python()
  dense <- as.matrix(patients[1:2])
  run <- function(x, learner) drawn(2, numbers(hold_out_test(x, patients$ill, learner)))
  for (learner in list("lda", r_learner("glmnet", s = 0.01), "ranger"))
    expect_equal(run(Matrix::Matrix(dense, sparse = TRUE), learner), run(dense, learner))
  times <- survival::Surv(patients$age, patients$ill == "yes")
  expect_refused(
    hold_out_test(patients[2], times, "lda") ~ "survival time \\(Surv\\)",
    hold_out_test(times ~ marker, patients, "lda") ~ "survival time \\(Surv\\)")
})

test_that("learners in a list are called as they are written", {
  skip_without_python()
  found <- compare_learners(type ~ glu + bmi, MASS::Pima.tr, list(glm, lda_in_r, "knn:3"), "hold_out")
  expect_equal(unique(c(found$learner, found$other)), c("glm", "lda_in_r", "knn:3"))
  expect_equal(evaluate_learners(x, y, r_learner("MASS::lda"), hold_out())$learners, "MASS::lda")
})

test_that("numbers that are labels are taken as such, or the factor to type is told", {
  skip_without_python()
  data <- data.frame(x, sick = as.numeric(y) - 1)
  plain <- sick ~ Sepal.Width + Sepal.Length
  amounts <- " takes numbers for amounts, and here 0, 1 are classes: make y a factor: factor\\(sick\\) ~ .*\"squared\""
  forgotten <- function(formula, data) glm(formula, data = data)
  share <- function(x, y, xnew) rep(1:7 / 8, length.out = nrow(xnew))
  expect_refused(
    corrected_t_test(plain, data, glm) ~ amounts,
    corrected_t_test(plain, data, "rpart", loss = "auc") ~ amounts,
    corrected_t_test(plain, data, "multinom", loss = "brier") ~ amounts,
    hold_out_test(x, data$sick, "lm") ~ "classes: use \"glm\" and make y a factor: factor\\(data\\$sick\\); or",
    hold_out_test(plain, data, forgotten, loss = "log") ~ "class 'glm' is a regression .*pass family = binomial",
    hold_out_test(x, data$sick, share) ~ "it returned 0.125, 0.25, .*, ..., but the labels are 0, 1: ")
  estimate <- function(...) drawn(3, unname(hold_out_test(...)$estimate))
  for (family in list("binomial", binomial, quasibinomial()))
    expect_equal(estimate(plain, data, r_learner("glm", family = family), loss = "log"),
                 estimate(factor(sick) ~ Sepal.Width + Sepal.Length, data, "glm", loss = "log"))
  expect_true(is.finite(estimate(plain, data, "glm", loss = "squared")))
  # What is typed does it, and the response is no feature by ".".
  typed <- estimate(factor(sick) ~ ., data, rpart::rpart)
  expect_equal(typed, estimate(y ~ x, learner = rpart::rpart))
  expect_gt(typed, 0)
  expect_equal(estimate(x, data$sick, lda_in_r), estimate(x, factor(data$sick), lda_in_r))
})

test_that("columns that no learner can use are named", {
  odd <- function(column) {
    data <- data.frame(x, Species = y)
    data$odd <- column
    data
  }
  same <- "has the same label everywhere in column odd: drop it"
  expect_refused(
    hold_out_test(Species ~ ., odd(as.list(seq_along(y))), "lda") ~ "'data' has a list in column odd",
    hold_out_test(Species ~ ., odd("same"), "lda") ~ paste("'data'", same),
    hold_out_test(odd(factor("same"))[-4], y, "lda") ~ paste("'x'", same),
    hold_out_test(x, y, c("lda", "knn:5")) ~ "to compare with goes into 'other'")
})

test_that("functions that are known by name are the same without it", {
  skip_without_python()
  for (pair in list(list(MASS::lda, "MASS::lda"), list(e1071::svm, "e1071::svm"),
                    list(r_learner(ranger::ranger, seed = 1), r_learner("ranger", seed = 1))))
    expect_equal(estimate_of(pair[[1L]], loss = "brier"), estimate_of(pair[[2L]], loss = "brier"))
  named <- compare_learners(ill ~ age + marker, patients, list(MASS::lda, "majority"), "hold_out")
  expect_equal(named$learner, "MASS::lda")
})

test_that("rows without a prediction are counted", {
  skip_without_python()
  holes <- patients
  holes$age[1:20] <- NA
  expect_match(message_of(hold_out_test(ill ~ age + marker, holes, "glm", loss = "brier")),
               "it returned NA for [0-9]+ of 20 rows of xnew: where these have missing values")
})

test_that("values by the order of the levels are refused where the positive class is not the last", {
  skip_without_python()
  y <- factor(patients$ill, c("yes", "no"))
  run <- function(y, learner) {
    set.seed(3)
    corrected_t_test(patients[1:2], y, learner, "rpart", design = 3, metric = "f1", positive = "yes")
  }
  learner <- r_learner("MASS::lda", prior = c(0.9, 0.1))
  expect_match(message_of(run(y, learner)), paste0(
    "'prior' goes by the order of the levels, of which the positive one is last: give the response as ",
    "factor(y, c(\"no\", \"yes\")), and 'prior' in this order"), fixed = TRUE)
  expect_s3_class(run(factor(y, c("no", "yes")), learner), "htest")
})

test_that("a learner may have a formula of its own", {
  skip_if_not_installed("survival")
  skip_without_python()
  folds <- list(1:40)
  on_folds <- function(formula, data, ..., design = folds)
    hold_out_test(formula, data, ..., design = design)$estimate
  cars <- transform(mtcars, am = factor(am))[c(17:32, 1:16), ]
  by_two <- on_folds(am ~ wt, cars, "glm", r_learner("glm", formula = am ~ hp), loss = "log",
                     design = list(1:10))
  each <- vapply(c("wt", "hp"), function(feature)
    on_folds(stats::reformulate(feature, "am"), cars, "glm", loss = "log", design = list(1:10)), 1)
  expect_equal(unname(by_two[1L]), unname(each[1L] - each[2L]))
  expect_equal(r_learner("glm", formula = am ~ hp)$name, "glm(formula = am ~ hp)")
  veteran <- survival::veteran
  Surv <- survival::Surv
  score <- function(formula) on_folds(formula, veteran, "coxph", metric = "harrell")
  by_two <- on_folds(Surv(time, status) ~ karno + age, veteran, "coxph",
                     r_learner("coxph", formula = Surv(time, status) ~ karno), metric = "harrell")
  expect_equal(unname(by_two[1L]), unname(score(Surv(time, status) ~ karno + age) -
                                            score(Surv(time, status) ~ karno)))
  refused <- function(...) on_folds(am ~ wt, cars, r_learner(...))
  expect_refused(
    refused("glm", formula = vs ~ hp) ~ "response vs, and that of the test has am",
    refused("rpart", formula = am ~ nothing) ~ "does not fit the data: .*nothing",
    refused("MASS::lda", formula = am ~ hp) ~ "lda takes columns, and no formula",
    hold_out_test(cars["wt"], cars$am, r_learner("glm", formula = am ~ wt)) ~ "give the test a formula and the data")
})
