# Learners and results of mlr3, against its own measures.
#
#   Rscript tests/nightly/plugins/r/mlr3.R

suppressPackageStartupMessages({
  library(ucvtest)
  library(mlr3)
})
lgr::get_logger("mlr3")$set_threshold("warn")

pima <- MASS::Pima.tr
task <- as_task_classif(pima, target = "type", positive = "Yes")
learner <- function(id, ...) lrn("classif.rpart", id = id, predict_type = "prob", ...)
learners <- list(learner("tree"), learner("deep", cp = 0, minsplit = 5))

set.seed(1)
found <- benchmark(benchmark_grid(task, learners, rsmp("cv", folds = 10)))
score <- function(measure) {
  scores <- found$score(msr(measure))
  sapply(split(scores[[measure]], scores$learner_id), identity)[, c("tree", "deep")]
}
errors <- score("classif.ce")
losses <- as_losses(found)
stopifnot(all.equal(losses$means, t(errors), check.attributes = FALSE))
differences <- errors[, "tree"] - errors[, "deep"]
error <- sqrt((1 / 10 + 1 / 9) * var(differences))
tested <- corrected_t_test(losses, "tree", "deep")
stopifnot(all.equal(c(tested$estimate, tested$stderr, tested$p.value),
                    c(mean(differences), error, 2 * pt(-abs(mean(differences) / error), 9)),
                    check.attributes = FALSE))
stopifnot(all.equal(as_losses(found, loss = "auc")$means, t(score("classif.auc")),
                    check.attributes = FALSE))
# mlr3's binary Brier score is that of the positive class.
stopifnot(all.equal(as_losses(found, loss = "brier")$means, t(score("classif.bbrier")),
                    check.attributes = FALSE))

# One split leaves rows untested, the bootstrap draws them twice, a filtered task has gaps.
once <- resample(task, learners[[1]], rsmp("holdout"))
stopifnot(all.equal(hold_out_test(as_losses(once))$estimate[[1]], once$score()$classif.ce))
drawn <- resample(task, learners[[1]], rsmp("bootstrap", repeats = 3))
refusal <- tryCatch(as_losses(drawn), error = conditionMessage)
stopifnot(grepl("bootstrap samples", refusal))
filtered <- task$clone()$filter(seq(1, 200, 2))
half <- resample(filtered, learners[[1]], rsmp("cv", folds = 5))
stopifnot(as_losses(half)$n_obs == 100,
          all.equal(as_losses(half)$means[1, ], half$score()$classif.ce))

# As learners they stay as they are, and fit what mlr3 fits.
set.seed(2)
rows <- sample(200, 130)
ours <- hold_out_test(type ~ ., pima, learners[[2]], design = own_folds(learning = list(rows)))
# The order of the classes decides what a leaf with as many of both predicts.
alike <- as_task_classif(pima, target = "type", positive = "No")
theirs <- learners[[2]]$clone()$train(alike, rows)$predict(alike, setdiff(1:200, rows))
stopifnot(all.equal(ours$estimate[[1]], theirs$score()[[1]]), is.null(learners[[2]]$model))
numbers <- evaluate_learners(mpg ~ wt + hp, mtcars, lrn("regr.rpart"), design = list(1:16, 17:32))
stopifnot(identical(numbers$learners, "regr.rpart"))

cat("mlr3 agrees\n")
