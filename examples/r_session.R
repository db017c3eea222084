# ucvtest in R: every function on real data that R brings along.
#
#   Rscript examples/r_session.R [--quick]

library(ucvtest)

quick <- "--quick" %in% commandArgs(trailingOnly = TRUE)
set.seed(2026)

# Two species of iris, two of the measurements.
two <- droplevels(subset(iris, Species != "setosa"))
draws <- if (quick) 300 else "auto"

cat("\n== Which of two learners errs less often? ==\n")
compared <- ustat_test(Species ~ Sepal.Length + Sepal.Width, two, "lda", "nearest_centroid",
                       learn_size = 30, n_pairs = draws)
print(compared)
print(summary(compared))
print(tidy(compared))
print(glance(compared))
print(confint(compared, level = 0.9))

cat("\n== The same question with an R function ==\n")
linear <- function(x, y, xnew) predict(MASS::lda(x, y), xnew)$class
print(ustat_test(two[1:2], two$Species, linear, "knn:5", learn_size = 30,
                 n_pairs = if (quick) 20 else 500))

cat("\n== The error of one learner, with its interval ==\n")
print(ustat_test(two[1:2], two$Species, "lda", learn_size = 30, n_pairs = draws))

cat("\n== Fuel consumption: ridge regression against the mean ==\n")
mean_only <- function(x, y, xnew) rep(mean(y), nrow(xnew))
print(ustat_test(mpg ~ wt + hp, mtcars, "ridge:1", mean_only, n_pairs = if (quick) 50 else 1000))

picture <- file.path(tempdir(), "comparison.pdf")
grDevices::pdf(picture, width = 7, height = 3.5)
plot(compared)
invisible(grDevices::dev.off())
cat("\nPicture:", picture, "\n")
