# ucvtest in R: every function on real data that R brings along.
#
#   Rscript examples/r_session.R [--quick]

library(ucvtest)

quick <- "--quick" %in% commandArgs(trailingOnly = TRUE)
set.seed(2026)

# Two species of iris, two of the measurements.
two <- droplevels(subset(iris, Species != "setosa"))
draws <- if (quick) 3000 else "auto"

cat("\n== Which of two learners errs less often? ==\n")
compared <- ustat_test(Species ~ Sepal.Length + Sepal.Width, two, "lda", "nearest_centroid",
                       learn_size = 30, n_pairs = draws)
print(compared)
print(summary(compared))
print(tidy(compared))
print(glance(compared))
print(confint(compared, level = 0.9))

cat("\n== Is one as good as the other, within five points? ==\n")
print(noninferiority(compared, margin = 0.05))
print(equivalence(compared, low = -0.05, high = 0.05))

cat("\n== For a paper ==\n")
cat(strwrap(methods_text(compared)), sep = "\n")
cat(citation_of(compared), sep = "\n")

cat("\n== How many flowers would tell? ==\n")
print(plan_sample_size(two[1:2], two$Species, "lda", "nearest_centroid", difference = 0.1))

cat("\n== The same question with an R function ==\n")
linear <- function(x, y, xnew) predict(MASS::lda(x, y), xnew)$class
print(ustat_test(two[1:2], two$Species, linear, "knn:5", learn_size = 30,
                 n_pairs = if (quick) 20 else 500))

cat("\n== Learners of other packages ==\n")
print(corrected_t_test(Species ~ Sepal.Length + Sepal.Width, two,
                       r_learner(glm, family = binomial), "MASS::lda"))

cat("\n== The error of one learner, with its interval ==\n")
print(ustat_test(two[1:2], two$Species, "lda", learn_size = 30, n_pairs = draws))

cat("\n== Fuel consumption: ridge regression against the mean ==\n")
mean_only <- function(x, y, xnew) rep(mean(y), nrow(xnew))
print(ustat_test(mpg ~ wt + hp, mtcars, "ridge:1", mean_only, n_pairs = if (quick) 50 else 1000))

cat("\n== Is the AUC of one learner larger? ==\n")
two_scores <- two[c("Sepal.Length", "Sepal.Width", "Species")]
influence <- influence_test(Species ~ ., two_scores, "lda", "knn:5",
                            n_repeats = if (quick) 100 else 1000)
print(influence)

cat("\n== What ten-fold cross-validation can say ==\n")
print(fold_covariance_test(Species ~ ., two_scores, "lda", "knn:1"))

cat("\n== Is a leave-pair-out AUC better than chance? ==\n")
few <- two_scores[c(1:10, 51:60), ]
chance <- leave_pair_out_test(Species ~ ., few, "ridge:1", n_permutations = if (quick) 99 else 9999)
print(chance)
cat("Largest number of errors that rejects for every learner, 25 against 25:",
    critical_values(0.05, 25, 25), "\n")
print(light_code_bounds(7, 30, 15))

cat("\n== How much of the fit is fitting noise? ==\n")
print(permutation_complexity_test(Species ~ ., two_scores, "knn:3", n_permutations = 50))
chosen <- select_model(mpg ~ wt + hp, mtcars, c("ridge:100", "ridge:1", "ridge:0.01"))
print(chosen)

cat("\n== Several tests at once, fitted once for each design ==\n")
print(compare_learners(Species ~ ., two_scores, c("lda", "knn:5", "ridge:1"),
                       tests = list("corrected_t", "bayesian_t",
                                    list("ustatistic", design = disjoint_sets(40, if (quick) 20 else 500)))))

cat("\n== Which of three may be the best? ==\n")
together <- compare_learners(Species ~ ., two_scores, c("lda", "knn:5", "ridge:1"),
                             tests = list(list("ustatistic", n_pairs = if (quick) 200 else 2000)),
                             correction = "simultaneous")
print(together)
print(best_set(together))

cat("\n== Which test covers the truth with 100 observations and 5000 fits? ==\n")
print(advise(nrow(two_scores), n_fits = 5000))

cat("\n== Tests that people use, on designs of one's own ==\n")
one_of <- function(test, ...) {
  result <- test(Species ~ ., two_scores, "lda", "knn:5", ...)
  cat(sprintf("%-45s %8.4f\n", result$method, result$estimate[[1]]))
}
one_of(corrected_t_test, design = k_fold(10, n_repeats = 2))
one_of(corrected_t_test, design = random_splits(15))
one_of(conservative_z_test, design = split_halves(5, n_bisections = 2))
one_of(hold_out_test, design = hold_out(0.5))
one_of(nested_cross_validation_test, design = nested_k_fold(5, n_repeats = 2))
one_of(cross_validation_wald_test)
one_of(naive_t_test)
one_of(bayesian_t_test)
one_of(five_by_two_t_test)
one_of(five_by_two_f_test)
one_of(mcnemar_learners_test)
one_of(delong_learners_test)

cat("\n== Two flowers of each plant: the plants are what is counted ==\n")
two_scores$plant <- rep(1:50, each = 2)
print(corrected_t_test(Species ~ ., two_scores, "lda", "knn:5", groups = plant,
                       design = k_fold(10, stratify = TRUE)))

cat("\n== Losses first, tests later; folds of one's own ==\n")
folds <- split(seq_len(nrow(two_scores)), rep_len(1:10, nrow(two_scores)))
losses <- evaluate_learners(Species ~ Sepal.Length + Sepal.Width, two_scores,
                            c("lda", "knn:5", "majority"), design = own_folds(folds))
print(losses)
print(corrected_t_test(losses, "lda", "knn:5"))
print(compare_learners(losses, "corrected_t"))

cat("\n== Predictions, scores and tables of folds that exist already ==\n")
wide <- two_scores$Sepal.Length > 6.2
rules <- data.frame(wide = ifelse(wide, "virginica", "versicolor"), all = "virginica")
print(mcnemar_learners_test(prediction_losses(two_scores$Species, rules)))
right <- data.frame(new = c(rep(TRUE, 19), FALSE), old = rep(c(TRUE, TRUE, FALSE, TRUE), 5))
print(hold_out_test(correct_losses(right), "new"))
accuracy <- data.frame(a = c(.8, .7, .9, .8, .75), b = c(.7, .75, .8, .7, .7))
print(corrected_t_test(score_losses(accuracy, n_learn = 80, n_test = 20)))
steps <- cumsum(c(0.3, -0.2, 0.5, 0.1, -0.4, 0.6, -0.1, 0.2, -0.3, 0.4))
forecasts <- data.frame(last = c(0, steps[-10]), none = 0)
print(diebold_mariano_test(prediction_losses(steps, forecasts, loss = "squared")))
table <- data.frame(truth = two_scores$Species, rules, fold = rep_len(1:10, nrow(two_scores)))
print(as_losses(table, truth = "truth", predictions = c("wide", "all"), fold = "fold"))

cat("\n== Which columns matter; a gate that may be asked often ==\n")
print(column_gains(Species ~ ., two_scores, "lda"))
answers <- prediction_losses(two_scores$Species, rules)
gate <- gate_ledger(tempfile(fileext = ".jsonl"))
print(gate$open(answers, "all"))
print(gate$ask(answers, "wide"))

picture <- file.path(tempdir(), "comparison.pdf")
grDevices::pdf(picture, width = 7, height = 3.5)
for (result in list(compared, chance, chosen)) plot(result)
invisible(grDevices::dev.off())
cat("\nPicture:", picture, "\n")
