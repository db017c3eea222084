# Learners of other packages on every kind of data, against the same fit by hand.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
set.seed(9)
patients <- data.frame(age = round(rnorm(60, 60, 8)), marker = rnorm(60),
                       site = factor(sample(c("north", "south", "west"), 60, TRUE)))
patients$ill <- factor(ifelse(patients$marker + rnorm(60) > 0, "yes", "no"), c("yes", "no"))

estimate_of <- function(learner, ..., test = corrected_t_test) {
  set.seed(4)
  unname(suppressWarnings(test(ill ~ age + marker, patients, learner, design = 3, ...))$estimate)
}

test_that("learners of packages take matrices without names, sparse ones, text and factors", {
  skip_without_python()
  dense <- as.matrix(patients[1:2])
  bare <- unname(dense)
  run <- function(x, learner, ...) {
    set.seed(2)
    unname(hold_out_test(x, patients$ill, learner, loss = "brier", ...)$estimate)
  }
  for (learner in list("ranger", "randomForest", "rpart", "glm", "MASS::qda", "e1071::svm",
                       "naiveBayes", r_learner("glmnet", s = 0.1))) {
    expect_equal(run(bare, learner), run(dense, learner), tolerance = 1e-6)
    expect_equal(run(Matrix::Matrix(bare, sparse = TRUE), learner), run(dense, learner),
                 tolerance = 1e-6)
  }
  as_text <- transform(patients, site = as.character(site))
  by_formula <- function(data, learner) {
    set.seed(2)
    unname(hold_out_test(ill ~ ., data, learner, loss = "brier")$estimate)
  }
  for (learner in list("ranger", "randomForest", "rpart", "glm", "naiveBayes")) {
    expect_equal(by_formula(as_text, learner), by_formula(patients, learner))
    # A formula of single columns is a table of them.
    expect_equal(run(patients[1:3], learner), by_formula(patients, learner))
  }
})

test_that("several classes have a probability each, also where a learning set lacks one", {
  skip_without_python()
  flowers <- iris[c(1:50, 51:100, 101:110), ]
  lacking <- list(101:110, 1:10, 51:60)
  brier <- function(learner, folds = k_fold(3)) {
    set.seed(5)
    rowMeans(evaluate_learners(Species ~ ., flowers, learner, folds, loss = "brier")$means)
  }
  posterior <- function(x, y, xnew) predict(MASS::qda(x, y), xnew)$posterior[, 3:1]
  expect_equal(unname(brier("MASS::qda")), unname(brier(posterior)))
  for (learner in list("ranger", "randomForest", "rpart", "MASS::lda", "e1071::svm", "naiveBayes",
                       r_learner("glmnet", s = 0.05)))
    expect_lt(brier(learner, lacking), 2)
  # All of the third class is tested where nobody has learnt it: twice a certain mistake.
  certain <- evaluate_learners(Species ~ ., flowers, "rpart", lacking, loss = "brier")
  expect_gt(certain$means[1L], 1.5)
  expect_match(message_of(brier(function(x, y, xnew) predict(MASS::lda(x, y), xnew)$posterior[, 3])),
               "a probability of each class for this loss: a matrix with the columns setosa, ")
  expect_match(message_of(brier("glm")), "a binomial family has two classes, and y has 3: use \"multinom\"")
})

test_that("the type of predict() is checked on the first fit", {
  skip_without_python()
  tree <- function(type, ...) estimate_of(r_learner("rpart", predict_type = type), ...)
  expect_equal(tree("prob"), estimate_of("rpart"))
  expect_equal(tree("class"), estimate_of("rpart"))
  expect_match(message_of(tree("class", loss = "log")), fixed = TRUE, paste(
    "predict() of a fit of class 'rpart' returned labels such as yes, and no probabilities of the",
    "classes yes, no: name its type of predict() that does"))
  expect_match(message_of(tree("vector", loss = "log")), fixed = TRUE,
               "returned values from 1 to 2, which are no probabilities")
  registerS3method("predict", "ucvtest_of_first", function(object, newdata, ...)
    1 - predict(object$fit, newdata, type = "response"), envir = asNamespace("stats"))
  of_first <- function(formula, data)
    structure(list(fit = glm(formula, binomial, data)), class = "ucvtest_of_first")
  expect_match(message_of(estimate_of(of_first, loss = "brier")), fixed = TRUE,
               "returned higher values for yes than for no where it is given what it learnt from")
  expect_match(message_of(estimate_of("lm")), "lm() learns numbers, and y has labels", fixed = TRUE)
})

test_that("smooth terms are for gam(), and others get their variables", {
  skip_without_python()
  run <- function(formula, learner) {
    set.seed(3)
    suppressWarnings(hold_out_test(formula, patients, learner, loss = "brier")$estimate)
  }
  smooth <- ill ~ s(marker, k = 5) + age
  by_hand <- function(formula, data)
    mgcv::gam(ill ~ s(marker, k = 5) + age, stats::binomial(), data)
  expect_equal(run(smooth, "gam"), run(ill ~ marker + age, by_hand))
  expect_equal(run(smooth, "glm"), run(ill ~ marker + age, "glm"))
})

test_that("variables that the formula removes are learnt by nobody", {
  skip_without_python()
  leaking <- transform(patients, leak = as.numeric(ill == "yes") + 0.01 * marker)
  run <- function(formula, learner, data = leaking, ...) {
    set.seed(2)
    unname(suppressWarnings(hold_out_test(formula, data, learner, loss = "brier", ...))$estimate)
  }
  tree <- function(formula, data) rpart::rpart(formula, data[all.vars(formula)])
  for (learner in list("ranger", "randomForest", "naiveBayes", "rpart", "MASS::lda", "glm", "gam", tree,
                       r_learner("nnet", size = 2)))
    expect_equal(run(ill ~ . - leak, learner), run(ill ~ age + marker + site, learner))
  expect_equal(run(factor(ill) ~ s(age) + . - leak - age, "ranger"),
               run(ill ~ age + marker + site, "ranger"))
  expect_equal(run(ill ~ (age + marker + leak)^2 - leak - age:leak - marker:leak, "ranger"),
               run(ill ~ age * marker, "ranger"))
  # Its missing values, units and groups are of no concern either.
  leaking$leak[1:9] <- NA
  expect_equal(run(ill ~ . - leak, "lda", na.action = na.omit), run(ill ~ ., "lda", patients))
  leaking$leak <- Sys.Date()
  expect_equal(run(ill ~ . - leak, "ranger"), run(ill ~ ., "ranger", patients))
  leaking$leak <- rep(1:30, 2)
  expect_equal(run(ill ~ . - leak, "ranger", groups = "leak"),
               run(ill ~ ., "ranger", patients, groups = leaking$leak))
  times <- survival::Surv(patients$age, patients$ill == "yes")
  concordance <- function(formula) {
    set.seed(2)
    hold_out_test(formula, transform(patients, leak = -age), "ranger", metric = "harrell")$estimate
  }
  expect_equal(concordance(times ~ . - leak - age - ill), concordance(times ~ marker + site))
})

test_that("terms of several columns are taken from the model matrix", {
  skip_without_python()
  run <- function(formula, learner) {
    set.seed(2)
    unname(hold_out_test(formula, patients, learner, loss = "brier")$estimate)
  }
  parts <- with(patients, cbind(poly(age, 2), splines::ns(marker, 2), site == "south", site == "west"))
  colnames(parts) <- letters[1:6]
  for (learner in list("ranger", "randomForest", "naiveBayes"))
    expect_equal(run(ill ~ poly(age, 2) + splines::ns(marker, 2) + site, learner),
                 run(ill ~ parts, learner))
})

test_that("test sets of one row have a probability of each of three classes", {
  skip_without_python()
  heights <- transform(iris, size = cut(Sepal.Length, c(4, 5.2, 6.2, 8), c("short", "medium", "tall")))
  by_hand <- function(x, y, xnew) {
    fit <- MASS::polr(y ~ ., data.frame(x, y = y))
    matrix(predict(fit, data.frame(xnew), type = "probs"), nrow(xnew),
           dimnames = list(NULL, levels(y)))
  }
  rows <- list(71, 103)
  loss <- function(learner, testing = rows, ...)
    evaluate_learners(size ~ Sepal.Width + Petal.Width, heights, learner, own_folds(testing), loss = "log",
                      ...)$means
  expect_equal(c(loss("polr")), c(loss(by_hand)))
  expect_true(all(is.finite(loss("multinom"))))
  # Naming a class changes neither the order of the levels nor whose probability it is.
  for (positive in c("short", "medium")) for (learner in list("polr", by_hand))
    expect_equal(c(loss(learner, positive = positive)), c(loss(by_hand)))
})

test_that("packages of labels refuse numbers, and networks learn those beyond 1", {
  skip_without_python()
  run <- function(learner, ...) {
    set.seed(2)
    unname(hold_out_test(age ~ marker + site, patients, learner, loss = "squared", ...)$estimate)
  }
  by_hand <- function(formula, data)
    nnet::nnet(formula, data, size = 1, decay = 0.1, linout = TRUE, trace = FALSE)
  expect_equal(run(r_learner("nnet", size = 1, decay = 0.1)), run(by_hand))
  for (learner in list("multinom", nnet::multinom))
    expect_match(message_of(run(learner)), "multinom() learns labels, and y has numbers", fixed = TRUE)
})

test_that("settings of caret's train are learners", {
  skip_if_not_installed("caret")
  skip_without_python()
  suppressPackageStartupMessages(library(caret))
  on.exit(detach("package:caret"))
  knn <- r_learner("caret::train", method = "knn", tuneGrid = data.frame(k = 5))
  expect_equal(estimate_of(knn), estimate_of(function(x, y, xnew)
    predict(caret::knn3(x, y, k = 5), xnew, type = "class")))
  expect_true(is.finite(estimate_of(knn, loss = "log", other = "majority")))
})

test_that("functions that take a formula go by name too", {
  skip_if_not_installed("rpart")
  skip_without_python()
  run <- function(learner) {
    set.seed(1)
    hold_out_test(type ~ glu + bmi, MASS::Pima.tr, learner)$estimate
  }
  expect_equal(run("rpart::rpart"), run(rpart::rpart))
  expect_equal(run("stats::glm"), run(glm))
  bushy <- rpart::rpart.control(minsplit = 2, cp = 0)
  expect_false(identical(run(r_learner("rpart::rpart", control = bushy)), run("rpart::rpart")))
})

test_that("specifications of parsnip and workflows are learners", {
  skip_without_python()
  # parsnip is not at hand: an object with its classes and methods.
  registerS3method("fit", "model_spec", function(object, formula, data, ...)
    structure(list(fit = MASS::lda(formula, data)), class = "ucvtest_stub"),
    envir = asNamespace("generics"))
  registerS3method("predict", "ucvtest_stub", function(object, new_data, type, ...) {
    found <- predict(object$fit, new_data)
    if (type == "class") return(data.frame(.pred_class = found$class))
    stats::setNames(data.frame(found$posterior), paste0(".pred_", colnames(found$posterior)))
  }, envir = asNamespace("stats"))
  spec <- structure(list(), class = c("discrim_linear", "model_spec"))
  expect_equal(estimate_of(spec), estimate_of("MASS::lda"))
  expect_equal(estimate_of(spec, loss = "log"), estimate_of("MASS::lda", loss = "log"))
})
