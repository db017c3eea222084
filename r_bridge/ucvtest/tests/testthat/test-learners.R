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
  expect_equal(
    {set.seed(1); unname(hold_out_test(marker ~ age + site, patients, lm)$estimate)},
    {set.seed(1); unname(hold_out_test(marker ~ age + site, patients,
      function(x, y, xnew) predict(lm(y ~ ., data.frame(x, y = y)), data.frame(xnew)))$estimate)})
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

test_that("weights reach learners that take them, and others refuse them", {
  skip_without_python()
  weights <- rep(1:2, 30)
  weighted <- function(x, y, xnew, weights) {
    fit <- suppressWarnings(glm(y ~ ., binomial, data.frame(x, y = y), weights = weights))
    levels(y)[1 + (predict(fit, data.frame(xnew)) > 0)]
  }
  expect_equal(estimate_of(weighted, weights = weights), estimate_of(glm, weights = weights))
  expect_equal(estimate_of(glm, weights = rep(1:2, 30)), estimate_of(glm, weights = weights))
  set.seed(4)
  by_matrix <- corrected_t_test(patients[1:2], patients$ill, glm, design = 3, weights = weights)
  expect_equal(unname(by_matrix$estimate), estimate_of(glm, weights = weights))
  passed_on <- function(formula, data, weights)
    glm(formula, binomial, data, weights = weights)
  used <- function(formula, data, weights) {
    stopifnot(length(weights) == nrow(data))
    glm(formula, binomial, data, weights = weights)
  }
  for (learner in list(passed_on, used))
    expect_equal(estimate_of(learner, weights = weights), estimate_of(glm, weights = weights))
  changed <- estimate_of(glm, weights = marker^4)
  expect_false(identical(changed, estimate_of(glm)))
  expect_match(message_of(estimate_of("lda", weights = weights)), "learner lda takes no weights")
  expect_match(message_of(estimate_of("ranger", weights = weights)), "ranger takes no weights")
})

test_that("what is no learner is refused with a hint", {
  run <- function(learner) message_of(hold_out_test(ill ~ age, patients, learner))
  expect_match(run(MASS::rlm), "is a function(x, ...), and a learner is", fixed = TRUE)
  expect_match(run(MASS::rlm), "for lda write \"MASS::lda\"", fixed = TRUE)
  expect_match(run(glmnet::glmnet), "or use cv.glmnet, which chooses one", fixed = TRUE)
  expect_match(run("rf"), fixed = TRUE, paste(
    "functions of R are \"glm\", \"ranger\", \"rpart\" and others of ?learners, or by package, as in",
    "\"MASS::lda\""))
  expect_match(run("nopackage::f"), "R package 'nopackage' is not installed")
  for (name in list(c("MASS::ldaa", "MASS::lda"), c("e1071::SVM", "e1071::svm"), c("rangr", "ranger"),
                    c("randomforest", "randomForest"), c("MAS::lda", "MASS::")))
    expect_match(run(name[1L]), paste0(": did you mean \"", name[2L], "\"?"), fixed = TRUE)
  expect_match(run("logistc"), "did you mean 'logistic'?", fixed = TRUE)
  expect_no_match(run("gbm"), "did you mean")
  expect_match(message_of(r_learner("ranger", 5)), "arguments of the learner must have names")
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
  expect_equal(conditionMessage(found),
               "test 'ustatistic': learner mine failed on split 1: nothing learnt")
  expect_identical(found$parent, original)
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

test_that("sparse matrices are taken, and survival times refused", {
  skip_without_python()
  dense <- as.matrix(patients[1:2])
  sparse <- Matrix::Matrix(dense, sparse = TRUE)
  run <- function(x, learner) {
    set.seed(2)
    numbers(hold_out_test(x, patients$ill, learner))
  }
  expect_equal(run(sparse, "lda"), run(dense, "lda"))
  expect_equal(run(sparse, r_learner("glmnet", s = 0.01)), run(dense, r_learner("glmnet", s = 0.01)))
  times <- survival::Surv(patients$age, patients$ill == "yes")
  expect_match(message_of(hold_out_test(patients[2], times, "lda")), "survival time \\(Surv\\)")
  expect_match(message_of(hold_out_test(times ~ marker, patients, "lda")), "survival time \\(Surv\\)")
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
  for (loss in list(NULL, "auc", "brier", "zero_one")) for (learner in list(glm, "rpart", "multinom"))
    expect_match(message_of(corrected_t_test(plain, data, learner, loss = loss)), fixed = TRUE, paste0(
      " takes numbers for amounts, and here 0, 1 are classes: make y a factor: factor(sick) ~ ",
      "Sepal.Width + Sepal.Length; or pass loss = \"squared\" if they are amounts"))
  expect_match(message_of(hold_out_test(x, data$sick, "lm")), fixed = TRUE,
               "are classes: use \"glm\" and make y a factor: factor(data$sick); or")
  forgotten <- function(formula, data) glm(formula, data = data)
  expect_match(message_of(hold_out_test(plain, data, forgotten, loss = "log")), fixed = TRUE, paste0(
    "its fit of class 'glm' is a regression of amounts, and here 0 and 1 are classes: pass family = ",
    "binomial, or make y a factor; if"))
  share <- function(x, y, xnew) rep(1:7 / 8, length.out = nrow(xnew))
  expect_match(message_of(hold_out_test(x, data$sick, share)),
               "it returned 0.125, 0.25, 0.375, 0.5, 0.625, ..., but the labels are 0, 1: ")
  estimate <- function(...) {
    set.seed(3)
    unname(hold_out_test(...)$estimate)
  }
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
  by_formula <- function(column)
    message_of(hold_out_test(Species ~ ., odd(column), "lda"))
  expect_match(by_formula(as.list(seq_along(y))), "'data' has a list in column odd")
  expect_match(by_formula("same"), "'data' has the same label everywhere in column odd: drop it")
  expect_match(message_of(hold_out_test(odd(factor("same"))[-4], y, "lda")),
               "'x' has the same label everywhere in column odd: drop it")
  expect_match(message_of(hold_out_test(x, y, c("lda", "knn:5"))), "to compare with goes into 'other'")
})

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

test_that("functions that are known by name are the same without it", {
  skip_without_python()
  for (pair in list(list(MASS::lda, "MASS::lda"), list(e1071::svm, "e1071::svm"),
                    list(r_learner(ranger::ranger, seed = 1), r_learner("ranger", seed = 1))))
    expect_equal(estimate_of(pair[[1L]], loss = "brier"), estimate_of(pair[[2L]], loss = "brier"))
  named <- compare_learners(ill ~ age + marker, patients, list(MASS::lda, "majority"), "hold_out")
  expect_equal(named$learner, "MASS::lda")
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

test_that("rows without a prediction are counted", {
  skip_without_python()
  holes <- patients
  holes$age[1:20] <- NA
  expect_match(message_of(hold_out_test(ill ~ age + marker, holes, "glm", loss = "brier")),
               "it returned NA for [0-9]+ of 20 rows of xnew: where these have missing values")
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
  refused <- function(...) message_of(on_folds(am ~ wt, cars, r_learner(...)))
  expect_match(refused("glm", formula = vs ~ hp), "response vs, and that of the test has am")
  expect_match(refused("rpart", formula = am ~ nothing), "does not fit the data: .*nothing")
  expect_match(refused("MASS::lda", formula = am ~ hp), "lda takes columns, and no formula")
  expect_match(message_of(hold_out_test(cars["wt"], cars$am, r_learner("glm", formula = am ~ wt))),
               "give the test a formula and the data")
})
