# From what other packages made to losses; the numbers by hand, in R.
two <- droplevels(subset(iris, Species != "setosa"))[c("Sepal.Length", "Sepal.Width", "Species")]

# Nadeau and Bengio's test of the differences of resamples.
corrected_t <- function(differences, n_test, n_learn) {
  size <- length(differences)
  error <- sqrt((1 / size + n_test / n_learn) * var(differences))
  c(mean(differences), error, 2 * pt(-abs(mean(differences) / error), size - 1))
}
of <- function(result) c(unname(result$estimate), result$stderr, result$p.value)

test_that("caret's train and resamples: corrected t, McNemar, DeLong", {
  skip_if_not_installed("caret")
  skip_if_not_installed("pROC")
  skip_without_python()
  set.seed(1)
  folds <- caret::createFolds(two$Species, 10, returnTrain = TRUE)
  control <- caret::trainControl("cv", index = folds, savePredictions = "final", classProbs = TRUE)
  lda <- caret::train(Species ~ ., two, method = "lda", trControl = control)
  glm <- caret::train(Species ~ ., two, method = "glm", trControl = control)
  losses <- as_losses(list(lda = lda, glm = glm))
  expect_output(print(losses), "data:  resamples of caret\n100 observations, 10 resamples")
  accuracy <- caret::resamples(list(lda = lda, glm = glm))
  differences <- accuracy$values[["lda~Accuracy"]] - accuracy$values[["glm~Accuracy"]]
  expect_equal(of(corrected_t_test(losses, "lda", "glm")), corrected_t(-differences, 10, 90))
  kept <- as_losses(accuracy, metric = "Accuracy", n = 100)
  expect_equal(of(corrected_t_test(kept)), corrected_t(differences, 10, 90))
  # Out-of-fold predictions, taken as those of one rule each.
  by_row <- function(fit) fit$pred[order(fit$pred$rowIndex), ]
  pooled <- prediction_losses(two$Species, data.frame(lda = by_row(lda)$pred, glm = by_row(glm)$pred))
  right <- table(by_row(lda)$pred == two$Species, by_row(glm)$pred == two$Species)
  discordant <- c(right[1, 2], right[2, 1])
  expect_equal(mcnemar_learners_test(pooled)$p.value,
               if (sum(discordant)) binom.test(discordant)$p.value else 1)
  # The rules of the first and the second feature differ more.
  scores <- data.frame(length = two$Sepal.Length, width = two$Sepal.Width)
  curves <- lapply(scores, function(score) pROC::roc(two$Species, score, direction = "<", quiet = TRUE))
  theirs <- pROC::roc.test(curves$length, curves$width, method = "delong")
  ours <- delong_learners_test(prediction_losses(two$Species, scores, loss = "auc",
                                                 positive = "virginica"))
  expect_equal(unname(ours$statistic), unname(theirs$statistic))
  expect_equal(ours$p.value, theirs$p.value)
  probabilities <- as_losses(list(lda = lda, glm = glm), loss = "auc")
  one_fold <- subset(lda$pred, Resample == "Fold03")
  expect_equal(probabilities$means[["lda", 3]],
               as.numeric(pROC::auc(one_fold$obs, one_fold$virginica, direction = "<", quiet = TRUE)))
  cut <- two$Sepal.Length > 6
  rules <- data.frame(a = ifelse(cut, "virginica", "versicolor"),
                      b = ifelse(two$Sepal.Width > 2.9, "virginica", "versicolor"))
  table <- table(rules$a == two$Species, rules$b == two$Species)
  expect_equal(mcnemar_learners_test(prediction_losses(two$Species, rules))$p.value,
               binom.test(c(table[1, 2], table[2, 1]))$p.value)
})

test_that("what caret does not keep is said", {
  skip_if_not_installed("caret")
  set.seed(1)
  bare <- caret::train(Species ~ ., two, method = "lda",
                       trControl = caret::trainControl("cv", number = 3))
  expect_match(message_of(as_losses(bare)), fixed = TRUE, paste(
    "caret kept no predictions, as savePredictions is FALSE unless given, and a test needs those of",
    "each observation: train again with trainControl(savePredictions = \"final\""))
  again <- caret::train(Species ~ ., two, method = "lda",
                        trControl = caret::trainControl("cv", number = 3))
  names <- caret::resamples(list(a = again, b = bare))
  names$values$Resample <- 1:3
  expect_match(message_of(as_losses(names, n = 100)), "give n_learn = and n_test =")
  expect_match(message_of(as_losses(caret::resamples(list(a = again, b = bare)))),
               "keeps no numbers of observations: give n = nrow\\(data\\)")
  names$metrics <- "gain"
  expect_match(message_of(as_losses(names, n = 100)), "say whether higher values of the metric gain")
})

test_that("losses may be functions of labels", {
  skip_without_python()
  labels <- data.frame(a = rep(c("no", "yes"), 10), b = rep("yes", 20))
  losses <- function(loss) prediction_losses(rep(c("no", "yes"), each = 10), labels, loss = loss)
  wrong <- function(truth, prediction) as.numeric(truth != prediction)
  expect_equal(losses(wrong)$means, losses("zero_one")$means)
  expect_equal(losses("accuracy")$means, losses("zero_one")$means)
})

test_that("rsample's folds are a design, and its tables become losses", {
  skip_if_not_installed("rsample")
  skip_without_python()
  set.seed(1)
  folds <- rsample::vfold_cv(two, 5)
  run <- function(design) of(corrected_t_test(Species ~ ., two, "lda", "knn:3", design = design))
  testing <- lapply(folds$splits, function(split) setdiff(1:100, split$in_id))
  expect_equal(run(folds), run(testing))
  expect_equal(run(own_folds(testing)), run(testing))
  # As collect_predictions() of tune, which is not at hand, is documented.
  collected <- do.call(rbind, lapply(seq_along(folds$splits), function(i) {
    analysis <- rsample::analysis(folds$splits[[i]])
    assessment <- rsample::assessment(folds$splits[[i]])
    found <- predict(MASS::lda(Species ~ ., analysis), assessment)
    data.frame(id = folds$id[i], .pred_class = found$class, .row = testing[[i]],
               .pred_versicolor = found$posterior[, 1], .pred_virginica = found$posterior[, 2],
               Species = assessment$Species, .config = "Preprocessor1_Model1")
  }))
  majority <- transform(collected, .pred_class = factor("virginica", levels(two$Species)))
  losses <- as_losses(list(lda = collected, majority = majority), truth = "Species")
  errors <- function(table) tapply(table$.pred_class != table$Species, table$id, mean)
  expect_equal(of(corrected_t_test(losses)),
               corrected_t(as.vector(errors(collected) - errors(majority)), 20, 80))
  expect_equal(as_losses(collected, truth = "Species", splits = folds, learner = "lda")$means[1, ],
               losses$means["lda", ])
  brier <- as_losses(collected, truth = "Species", loss = "brier")
  expect_equal(mean(brier$means),
               mean((collected$.pred_virginica - (collected$Species == "virginica"))^2))
  both <- rbind(collected, transform(collected, .config = "Preprocessor1_Model2"))
  expect_match(message_of(as_losses(both, truth = "Species")), "keep one of .config")
  expect_match(message_of(as_losses(collected)), "'truth' is missing")
  summarized <- collected[setdiff(names(collected), "id")]
  expect_match(message_of(as_losses(summarized, truth = "Species")), "take summarize = FALSE")
})

# Objects of mlr3, which is not at hand, by its documented fields.
mlr3_result <- function(id, errors, folds) {
  prediction <- function(rows) list(
    row_ids = rows, truth = two$Species[rows],
    response = factor(ifelse(rows %in% errors, rev(levels(two$Species))[two$Species[rows]],
                             as.character(two$Species[rows])), levels(two$Species)),
    prob = cbind(versicolor = 0.3, virginica = rep(0.7, length(rows))))
  structure(class = c("ResampleResult", "R6"), list(
    predictions = function() lapply(folds, prediction), learner = list(id = id),
    task = list(id = "iris", row_ids = 1:100, truth = function() two$Species),
    resampling = list(train_set = function(i) setdiff(1:100, folds[[i]]))))
}

test_that("results of mlr3 become losses", {
  skip_without_python()
  folds <- split(1:100, rep(1:5, 20))
  first <- mlr3_result("lda", 1:20, folds)
  second <- mlr3_result("tree", c(1:5, 31:57), folds)
  benchmark <- structure(class = c("BenchmarkResult", "R6"), list(
    n_resample_results = 2L, resample_result = function(i) list(first, second)[[i]]))
  losses <- as_losses(benchmark)
  expect_equal(losses$learners, c("lda", "tree"))
  wrong <- function(errors) vapply(folds, function(rows) mean(rows %in% errors), 1)
  expect_equal(of(corrected_t_test(losses)),
               corrected_t(unname(wrong(1:20) - wrong(c(1:5, 31:57))), 20, 80))
  expect_equal(as_losses(first)$means[1, ], losses$means["lda", ])
  expect_equal(as_losses(first, loss = "log")$means[[1, 1]], mean(-log(rep(c(0.3, 0.7), each = 10))))
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
  expect_match(message_of(as_losses(table, truth = "y", predictions = "a", fold = "fold")),
               "'x' has no column 'y'")
  expect_match(message_of(as_losses(rbind(table, table), truth = "truth", predictions = "a",
                                    fold = "fold", row = "row")), "tested twice in one resample")
  without <- function(column) {
    table[3, column] <- NA
    message_of(as_losses(table, truth = "truth", predictions = "a", fold = "fold", row = "row"))
  }
  expect_match(without("fold"), "'x\\$fold' has missing values in 1 row")
  expect_match(without("row"), "'x\\$row' has missing values in 1 row")
  expect_match(without("a"), "'predictions\\$a' has missing values in 1 row")
  of_tune <- data.frame(id = paste0("Fold", table$fold), .row = 1:100, obs = table$truth,
                        .pred_class = replace(table$b, 3, NA))
  expect_match(message_of(as_losses(list(tree = of_tune), truth = "obs")),
               "'predictions\\$tree' has missing values in 1 row")
  expect_match(message_of(as_losses(3)), "'x' must be what caret::train")
  expect_match(message_of(as_losses(list(table))), "must have a name for each learner")
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
  expect_match(message_of(prediction_losses(two$Species, two$Species)),
               "must be a data frame or a list with a name")
  expect_match(message_of(score_losses(list(a = 1:3, b = 1:4), 8, 2)),
               "columns of different lengths: a 3, b 4")
  expect_equal(message_of(score_losses(data.frame(a = factor(c(.9, .8, .7))), 8, 4)),
               "'scores$a' is a factor: make numbers of it by as.numeric(as.character(scores$a))")
  expect_equal(message_of(score_losses(data.frame(a = c("0.9", "0.8", "0.7")), 8, 4)),
               "'scores$a' is text: make numbers of it by as.numeric(scores$a)")
  expect_match(message_of(corrected_t_test(two[1:2], two$Species, "lda", design = list(1:60, 20:90))),
               "look like learning sets")
  expect_match(message_of(corrected_t_test(two[1:2], two$Species, "lda", design = "ten")),
               "'design' must be a number of folds, a list of row numbers")
})

test_that("DeLong's standard error is that of survival's concordance", {
  skip_if_not_installed("survival")
  skip_without_python()
  set.seed(2)
  status <- rbinom(60, 1, 0.4)
  score <- status + rnorm(60)
  theirs <- survival::concordance(status ~ score, influence = 1)
  # survival divides by the number of observations of a class, DeLong by one less.
  size <- ave(status, status, FUN = length)
  error <- function(influence, size) sqrt(sum(influence^2 * size / (size - 1)))
  losses <- function(...)
    prediction_losses(factor(status), data.frame(score = score), loss = "auc", ...)
  ours <- delong_learners_test(losses())
  expect_equal(unname(ours$estimate), unname(theirs$concordance))
  expect_equal(ours$stderr, error(theirs$dfbeta, size))
  # Pairs of rows of one class and one patient.
  patient <- paste(status, ave(seq_along(status), status, FUN = function(i) (seq_along(i) + 1) %/% 2))
  clustered <- rowsum(as.vector(theirs$dfbeta), patient)
  of_class <- startsWith(rownames(clustered), "1")
  by_row <- delong_learners_test(losses(groups = patient), group_weight = "row")
  expect_equal(by_row$stderr,
               error(clustered, ifelse(of_class, sum(of_class), sum(!of_class))))
})
