# ucvtest in R on clinical data: missing values, factors, matched sets.
#
#   Rscript examples/r_clinical_data.R [--quick]

library(ucvtest)

quick <- "--quick" %in% commandArgs(trailingOnly = TRUE)
repeats <- if (quick) 1 else 10
set.seed(2026)

cat("\n== Breast tumours (MASS::biopsy): 16 values are missing ==\n")
biopsy <- MASS::biopsy[seq_len(if (quick) 150 else nrow(MASS::biopsy)), -1]
# A named learner says which column, and what to do.
cat(tryCatch(hold_out_test(class ~ ., biopsy, "lda"), error = conditionMessage), "\n")

# What is imputed comes from what is learnt from: no test observation is looked at.
imputing_lda <- function(x, y, xnew) {
  center <- apply(as.matrix(x), 2, median, na.rm = TRUE)
  filled <- function(z) ifelse(is.na(z), rep(center, each = nrow(z)), as.matrix(z))
  predict(MASS::lda(filled(x), y), filled(xnew))$class
}
print(corrected_t_test(class ~ ., biopsy, imputing_lda, rpart::rpart,
                       design = k_fold(10, n_repeats = repeats)))
print(corrected_t_test(biopsy[-10], biopsy$class, imputing_lda, "majority", design = 5))
# Without the rows that lack a value.
complete <- hold_out_test(class ~ ., biopsy, "lda", "majority", na.action = na.omit)
print(complete)
stopifnot(complete$n_obs == sum(complete.cases(biopsy)))

cat("\n== Abortions and infertility (infert): three women of each matched set ==\n")
infert$case <- factor(infert$case, labels = c("control", "case"))
# The number of the set is no feature, and sets are what is learnt from and tested.
by_set <- corrected_t_test(case ~ age + parity + education + spontaneous + induced, infert,
                           r_learner(glm, family = binomial, name = "logistic regression"),
                           rpart::rpart, groups = stratum,
                           design = k_fold(10, n_repeats = repeats))
print(by_set)
stopifnot(by_set$diagnostics$n_groups == length(unique(infert$stratum)))
print(delong_learners_test(case ~ spontaneous + induced, infert, "lda", "knn:5", groups = "stratum"))

cat("\n== Diabetes (MASS::Pima.tr) with a factor that says nothing ==\n")
pima <- MASS::Pima.tr
pima$ward <- factor(sample(c(letters[1:4], "rare"), nrow(pima), TRUE, c(.3, .3, .2, .19, .01)))
with_ward <- ustat_test(type ~ ., pima, "lda", "ridge:1", n_pairs = if (quick) 100 else "auto")
print(with_ward)
print(tidy(with_ward))
# Learners with a formula see the factor itself.
losses <- evaluate_learners(type ~ ., pima, list(tree = rpart::rpart, lda = "lda", `15 nearest` = "knn:15"),
                            design = k_fold(10, n_repeats = repeats, stratify = TRUE))
print(losses)
print(compare_learners(losses, "corrected_t", baseline = "lda"))

cat("\n== Predictions for new patients (MASS::Pima.te), learnt elsewhere ==\n")
fitted <- glm(type ~ glu + bmi + age, binomial, MASS::Pima.tr)
risk <- data.frame(model = predict(fitted, MASS::Pima.te, type = "response"),
                   glucose = MASS::Pima.te$glu)
print(delong_learners_test(prediction_losses(MASS::Pima.te$type, risk, loss = "auc", positive = "Yes")))
