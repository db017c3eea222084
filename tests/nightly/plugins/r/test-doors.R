# What other packages made, to losses: their own numbers.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
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
