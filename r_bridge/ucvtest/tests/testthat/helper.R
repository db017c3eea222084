# Other packages ask the system for the time zone, which containers do not have.
if (!nzchar(Sys.getenv("TZ"))) Sys.setenv(TZ = "UTC")

skip_without_python <- function()
  skip_if_not(ucvtest_available(), "no Python with the package ucvtest[r]")

# Two classes whose alphabetical order is not the order of the levels.
two_species <- function() {
  data <- subset(iris, Species != "setosa")
  data$Species <- factor(data$Species, levels = c("virginica", "versicolor"))
  data[c(1:30, 51:80), c(1:3, 5)]
}

x <- as.matrix(two_species()[1:3])
y <- two_species()$Species

# As in scikit-learn, the covariance is divided by n.
lda_in_r <- function(x, y, xnew) predict(MASS::lda(x, y, method = "mle"), xnew)$class

# What code returns with the random numbers of a seed.
drawn <- function(seed, code) {
  set.seed(seed)
  code
}

seeded <- function(...) drawn(42, ustat_test(...))

# Numbers that two runs of the same test share.
numbers <- function(result) {
  as.data.frame(result)[c("estimate", "std.error", "p.value", "conf.low", "conf.high", "n_fits")]
}

message_of <- function(expr) conditionMessage(expect_error(expr))

# Refusals, a row each: the call ~ what its message says.
expect_refused <- function(...) for (row in list(...)) {
  said <- tryCatch({
    eval(row[[2L]], environment(row))
    "nothing, and goes on"
  }, error = conditionMessage)
  expect_match(said, eval(row[[3L]], environment(row)), label = deparse1(row[[2L]], width.cutoff = 500L))
}
