# Objects of tidymodels and workflows as learners, and what tune collected, against yardstick's numbers.
#
#   Rscript tests/nightly/plugins/r/tidymodels.R

suppressPackageStartupMessages({
  library(ucvtest)
  library(parsnip)
  library(workflows)
  library(recipes)
  library(rsample)
  library(tune)
})

pima <- MASS::Pima.tr
logistic <- set_engine(logistic_reg(), "glm")
tree <- set_engine(decision_tree("classification"), "rpart")
steps <- step_pca(step_normalize(recipe(type ~ ., pima), all_predictors()), all_predictors(),
                  num_comp = 3)
flows <- list(
  formula = add_model(add_formula(workflow(), type ~ .), logistic),
  pca = add_model(add_recipe(workflow(), steps), logistic),
  tree = add_model(add_variables(workflow(), type, c(glu, bmi)), tree))

set.seed(1)
folds <- vfold_cv(pima, 10)
kept <- lapply(flows, function(flow)
  collect_predictions(fit_resamples(flow, folds, control = control_resamples(save_pred = TRUE))))
by_fold <- function(table, metric, ...)
  metric(dplyr::group_by(table, id), type, ...)$.estimate

# Their errors are the errors of tune, and so is a fit by the workflow itself on the same folds.
losses <- as_losses(kept, truth = "type")
errors <- sapply(kept, function(table) 1 - by_fold(table, yardstick::accuracy, .pred_class))
stopifnot(all.equal(unname(losses$means), unname(t(errors))))
set.seed(2)
fitted <- evaluate_learners(type ~ ., pima, flows, design = folds)
stopifnot(all.equal(fitted$means, losses$means), identical(fitted$learners, names(flows)))

# Nadeau and Bengio's test of the difference, in R.
differences <- errors[, "formula"] - errors[, "tree"]
error <- sqrt((1 / 10 + 1 / 9) * var(differences))
found <- corrected_t_test(losses, "formula", "tree")
stopifnot(all.equal(c(found$estimate, found$stderr, found$p.value),
                    c(mean(differences), error, 2 * pt(-abs(mean(differences) / error), 9)),
                    check.attributes = FALSE))

# Probabilities of the second class.
areas <- as_losses(kept, truth = "type", loss = "auc")$means["pca", ]
theirs <- by_fold(kept$pca, yardstick::roc_auc, .pred_Yes, event_level = "second")
stopifnot(all.equal(unname(areas), theirs))

# A specification without a preprocessor takes the formula of the test.
alone <- evaluate_learners(type ~ ., pima, list(logistic = logistic), design = folds)
stopifnot(all.equal(alone$means[1, ], losses$means["formula", ]))
numbers <- set_engine(linear_reg(), "lm")
squared <- evaluate_learners(mpg ~ wt + hp, mtcars, list(lm = numbers), design = list(1:16, 17:32))
by_hand <- sapply(list(1:16, 17:32), function(rows)
  mean((mtcars$mpg[rows] - predict(lm(mpg ~ wt + hp, mtcars[-rows, ]), mtcars[rows, ]))^2))
stopifnot(all.equal(squared$means[1, ], by_hand))

refusal <- tryCatch(hold_out_test(pima[1:7], pima$type, flows$pca), error = conditionMessage)
stopifnot(grepl("give a formula and the data", refusal))

# One split, of which most rows are never tested.
set.seed(3)
split <- initial_split(pima)
last <- last_fit(flows$formula, split)
once <- as_losses(collect_predictions(last), truth = "type",
                  splits = structure(list(splits = list(split)), class = "rset"))
wrong <- with(collect_predictions(last), mean(.pred_class != type))
stopifnot(all.equal(hold_out_test(once)$estimate[[1]], wrong), once$n_obs == nrow(pima))

cat("tidymodels agrees\n")
