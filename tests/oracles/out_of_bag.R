# What R's riskRegression and pROC say of AUCs and Brier scores, for tests/core/values/kernels/test_out_of_bag.py.
#
# Renew (Debian: r-cran-riskregression, r-cran-proc, r-cran-jsonlite), from the top of the repository:
#     Rscript --vanilla tests/oracles/out_of_bag.R > tests/oracles/out_of_bag.json
#
# Two logistic regressions are learnt from bootstrap samples and score what is not in the sample; the second
# has a few different scores only, so that there are ties. `counts` says how often a sample contains each
# observation. "whole": samples of all observations, by the public Score(); "classes": samples of each class
# by itself, as the kernel wants them, which Score() does not draw: they go to the function behind it. Every pair
# is out of some sample: riskRegression counts pairs that never are as ranked wrongly.
suppressMessages({library(riskRegression); library(data.table); library(pROC)})

n_samples <- 60L
set.seed(20)
data <- data.frame(y = rep(c(1L, 0L), c(8, 12))[sample(20)])
n <- nrow(data)
data$x <- rnorm(n) + 0.5 * data$y
data$z <- round(rnorm(n) + 0.5 * data$y)

# Rounded, as equal predictors get risks that differ by rounding errors.
logistic <- function(formula, data) structure(
  list(fit = suppressWarnings(glm(formula, binomial, data)), call = match.call()), class = "logistic")
predictRisk.logistic <- function(object, newdata, ...)
  round(predict(object$fit, newdata, type = "response"), 6)
fit_both <- function(d) list(a = logistic(y ~ x, data = d), b = logistic(y ~ z, data = d))
risks_of <- function(index) lapply(c(a = "a", b = "b"), function(m) t(apply(index, 2, function(rows)
  predictRisk(fit_both(data[rows, ])[[m]], data))))
counts_of <- function(index) t(apply(index, 2, tabulate, nbins = n))
table_of <- function(score, contrasts, value) list(
  estimate = score[[value]], se = score$se,
  difference = contrasts[[paste0("delta.", value)]], difference_se = contrasts$se)

# Score() changes the data frame that it is given.
whole <- Score(fit_both(data), y ~ 1, copy(data), metrics = c("AUC", "Brier"), split.method = "loob",
               B = n_samples, seed = 3, keep = "splitindex", null.model = FALSE, progress.bar = NULL)
index <- whole$split.method$index

rows <- split(seq_len(n), data$y)
within <- replicate(n_samples, unlist(lapply(rows, sample, replace = TRUE), use.names = FALSE))
risks <- risks_of(within)
oob <- do.call(rbind, lapply(seq_len(n_samples), function(b) {
  out <- setdiff(seq_len(n), within[, b])
  rbind(data.table(model = 1, b = b, ID = out, risk = risks$a[b, out]),
        data.table(model = 2, b = b, ID = out, risk = risks$b[b, out]))
}))
classes <- riskRegression:::crossvalPerf.loob.AUC(
  times = 0, mlevs = 1:2, se.fit = 1L, response.type = "binary", NT = 1,
  Response = data.table(ReSpOnSe = data$y), cens.type = "uncensored", Weights = NULL,
  split.method = list(internal.name = "LeaveOneOutBoot", index = within), N = n, B = n_samples,
  DT.B = oob, data = data.table(ID = seq_len(n)), dolist = list(1:2), alpha = 0.05,
  byvars = "model", mlabels = c("a", "b"), conservative = TRUE, cens.model = "none")

fixed_risks <- lapply(fit_both(data), predictRisk, newdata = data)
rocs <- lapply(fixed_risks, function(s) roc(data$y, s, levels = c(0, 1), direction = "<", quiet = TRUE))
paired <- roc.test(rocs$a, rocs$b, method = "delong", paired = TRUE)
fixed <- Score(fit_both(data), y ~ 1, copy(data), metrics = "AUC", null.model = FALSE)

cat(jsonlite::toJSON(list(
  versions = list(R = as.character(getRversion()),
                  riskRegression = as.character(packageVersion("riskRegression")),
                  pROC = as.character(packageVersion("pROC"))),
  y = data$y,
  whole = list(counts = counts_of(index), risks = risks_of(index),
               auc = table_of(whole$AUC$score, whole$AUC$contrasts, "AUC"),
               brier = table_of(whole$Brier$score, whole$Brier$contrasts, "Brier")),
  classes = list(counts = counts_of(within), risks = risks,
                 auc = table_of(classes$score, classes$contrasts, "AUC")),
  delong = list(risks = fixed_risks, auc = sapply(rocs, function(r) as.numeric(auc(r))),
                variance = sapply(rocs, var, method = "delong"),
                z_value = paired$statistic, pvalue = paired$p.value,
                conf_int = paired$conf.int,
                risk_regression = table_of(fixed$AUC$score, fixed$AUC$contrasts, "AUC"))
), digits = I(17), auto_unbox = TRUE), "\n")
