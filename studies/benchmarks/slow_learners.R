# R's ranger against glm through the R package: `studies/benchmarks/slow_learners.py --r` runs this.
# Standard input has the data, comma separated, the labels last.

suppressMessages({library(ucvtest); library(ranger)})
n_seeds <- as.integer(commandArgs(TRUE)[1L])
read <- as.matrix(read.csv(file("stdin"), header = FALSE))
x <- read[, -ncol(read)]
y <- factor(read[, ncol(read)])

forest <- function(x, y, xnew) {
  fitted <- ranger(x = x, y = y, num.trees = 100L, num.threads = 1L, seed = 1L)
  predict(fitted, xnew, num.threads = 1L)$predictions
}
linear <- function(x, y, xnew) {
  fitted <- suppressWarnings(glm.fit(cbind(1, scale(x)), as.numeric(y) - 1, family = binomial()))
  centred <- scale(xnew, colMeans(x), apply(x, 2L, sd))
  factor(levels(y)[1L + (drop(cbind(1, centred) %*% fitted$coefficients) > 0)], levels(y))
}
half <- seq_len(nrow(x) / 2)
# Of the processor: others may use it, too.
seconds <- function(expression) sum(system.time(expression)[c("user.self", "sys.self")])
one <- seconds(for (k in 1:5) for (learner in list(forest, linear))
  learner(x[half, ], y[half], x[-half, ])) / 5
cat("fit", one, "\n")
tests <- c(default = "recommended", `5x2` = "five_by_two_t", corrected_t = "corrected_t")
for (name in names(tests)) for (seed in seq_len(n_seeds)) {
  set.seed(seed)
  taken <- seconds(found <- compare_learners(x, y, list(forest = forest, linear = linear),
                                             tests = tests[[name]]))
  cat("result", name, taken, found$estimate[1L], found$n_fits[1L], "\n")
}
