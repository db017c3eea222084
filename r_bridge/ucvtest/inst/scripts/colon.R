# The colon cancer analysis of Fuchs, Hornung, De Bin and Boulesteix (2013), step by step in R
# with glmnet, and beside it the same test by ustat_test().
#
#   Rscript colon.R [number of pairs of learning sets, default 200]
#
# Question: does logistic regression with a lasso penalty of 0.08 classify tumour and normal
# tissue better than with 0.5, when it learns from 26 patients? The paper's answer: the error
# rates differ by -0.14, its variance is 0.01, the 95% interval is [-0.35, 0.07], p = 0.19.

library(glmnet)
library(ucvtest)

# Data: 62 patients, 2000 genes. The file comes with no package; say where it is in UCVTEST_DATA.

colon_file <- file.path(Sys.getenv("UCVTEST_DATA", file.path("..", "shared", "data")),
                        "colon.csv.gz")
if (!file.exists(colon_file))
  stop("no file '", colon_file, "': name the folder of colon.csv.gz in UCVTEST_DATA")
colon <- read.csv(colon_file)
x <- as.matrix(colon[-1])
y <- factor(colon$tumour, levels = 0:1, labels = c("normal", "tumour"))

g <- 26                                   # observations to learn from
arguments <- commandArgs(trailingOnly = TRUE)
n_pairs <- if (length(arguments)) as.integer(arguments[1]) else 200L
set.seed(2013)

# Step 1. The two learners: functions that learn from x and y and predict the labels of xnew.
# At lambda 0.5 no gene enters, and the prediction is the larger class of the learning set; a
# tie, 13 to 13, goes to the first class, "normal", as in glmnet.

lasso <- function(lambda) function(x, y, xnew) {
  # glmnet warns of classes with fewer than 8 observations, which 26 patients often have.
  fit <- suppressWarnings(glmnet(x, y, family = "binomial", lambda = lambda))
  probability <- predict(fit, xnew, type = "response")[, 1]
  levels(y)[1 + (probability > 0.5 + 1e-9)]
}
lasso_08 <- lasso(0.08)
lasso_50 <- lasso(0.5)

# Step 2. The error difference of the two rules learnt on the rows L, at every other row.

error_difference <- function(L) {
  test <- -L
  wrong <- function(learner) learner(x[L, ], y[L], x[test, ]) != y[test]
  difference <- rep(NA_real_, length(y))
  difference[test] <- wrong(lasso_08) - wrong(lasso_50)
  difference
}

# Step 3. Pairs of disjoint learning sets: the first g and the next g of a random permutation;
# the remaining observations R belong to neither.

one_pair <- function() {
  order <- sample(length(y))
  D1 <- error_difference(order[1:g])
  D2 <- error_difference(order[g + 1:g])
  R <- order[-(1:(2 * g))]
  r <- length(R)
  c(delta = mean(c(mean(D1, na.rm = TRUE), mean(D2, na.rm = TRUE))),
    # Unbiased for the square of the expected difference: two disjoint learning sets, each
    # tested at an observation of its own.
    square = (sum(D1[R]) * sum(D2[R]) - sum(D1[R] * D2[R])) / (r * (r - 1)))
}
started <- proc.time()[["elapsed"]]
pairs <- replicate(n_pairs, one_pair())
seconds <- proc.time()[["elapsed"]] - started

# Step 4. The estimate of the difference, and of its square.

delta <- mean(pairs["delta", ])
square <- mean(pairs["square", ])

# Step 5. The variance: square of the estimate minus estimate of the square. The former comes
# from products of different permutations; the square of the mean would have their
# Monte-Carlo variance in it.

delta_squared <- (sum(pairs["delta", ])^2 - sum(pairs["delta", ]^2)) / (n_pairs * (n_pairs - 1))
variance <- delta_squared - square
mc_error <- sd(2 * delta * pairs["delta", ] - pairs["square", ]) / sqrt(n_pairs)

# Step 6. Interval and p-value from the normal distribution, as in the paper. With few pairs
# the variance is known only to its Monte-Carlo error, and may even come out negative.

se <- if (variance > 0) sqrt(variance) else NaN
by_steps <- c(delta, variance, delta + qnorm(c(0.025, 0.975)) * se,
              2 * pnorm(-abs(delta) / se), mc_error, seconds)

# Step 7. The same by ustat_test(), which goes on until the Monte-Carlo error is small: first
# with the names of the learners, so that thousands of fits are one computation, then with the
# R functions of step 1 and as many pairs as above.

in_short <- function(result)
  c(result$estimate, result$variance, result$conf.int, result$p.value,
    result$diagnostics$mc_se_variance, result$elapsed)

jitted <- ustat_test(x, y, "lasso:0.08", "lasso:0.5", learn_size = g, variance = "unbiased")
with_glmnet <- ustat_test(x, y, lasso_08, lasso_50, learn_size = g, variance = "unbiased",
                          n_pairs = n_pairs)

comparison <- rbind(
  paper = c(-0.14, 0.01, -0.35, 0.07, 0.19, NA, NA),
  `steps above, glmnet` = by_steps,
  `ustat_test, glmnet` = in_short(with_glmnet),
  `ustat_test, by name` = in_short(jitted))
colnames(comparison) <- c("difference", "variance", "low", "high", "p", "MC error of var.",
                          "seconds")
print(round(comparison, 4))
cat("\nFits:", 4 * n_pairs, "with glmnet,", jitted$n_fits, "by name.\n\n")
print(jitted)
