test_that("arguments are checked before Python starts", {
  expect_equal(message_of(ustat_test(x, y, 3)), paste0(
    "'learner' must be the name of a learner, such as \"lda\" or \"lasso:0.08\", or a ",
    "function(x, y, xnew), got numeric of length 1"))
  expect_equal(message_of(ustat_test(x, y, "lda", list())), paste0(
    "'other' must be the name of a learner, such as \"lda\" or \"lasso:0.08\", or a ",
    "function(x, y, xnew), got list of length 0"))
  expect_equal(message_of(ustat_test(x)),
               "'y' is missing: give the response, or a formula and data")
  expect_equal(message_of(ustat_test(x, y)),
               "'learner' is missing: name one, such as \"lda\"")
  expect_equal(message_of(ustat_test(Species ~ ., two_species())),
               "'learner' is missing: name one, such as \"lda\"")
  expect_equal(message_of(ustat_test(x, y[-1], "lda")),
               "'x' and 'y' must have the same length, got 60 rows and 59 responses")
  expect_equal(message_of(ustat_test(x[, 1], y, "lda")), paste0(
    "'x' must be a numeric matrix or a data frame, got numeric of length 60: ",
    "use cbind(x) for a single feature"))
  expect_equal(message_of(ustat_test(x, y, "lda", conf.level = 95)),
               "'conf.level' must be a number between 0 and 1, such as 0.95")
  expect_equal(message_of(ustat_test(x, y, "lda", alternative = "both")),
               "'alternative' must be one of \"two.sided\", \"less\", \"greater\"")
  expect_equal(message_of(ustat_test(x, y, "lda", folds = 3)),
               "unknown argument 'folds': see ?ustat_test")
  expect_equal(message_of(ustat_test(~ Species, two_species(), "lda")),
               "'formula' must have a response: write  response ~ terms")
  expect_equal(message_of(ustat_test(Species ~ offset(Sepal.Width), two_species(), "lda")),
               "'formula' has an offset, which learners cannot use")
  expect_equal(message_of(ustat_test(Species ~ 1, two_species(), "lda")), "'x' has no columns")
  expect_equal(message_of(ustat_test(x, cbind(1:60, 1:60), "lda")),
               "'y' must be a vector or a factor, got matrix of 60 x 2")
})

test_that("arguments that are missing are refused by name", {
  missing_from <- function(call, name) {
    error <- expect_error(eval(call), paste0("^'", name, "' is missing: give "))
    expect_equal(conditionCall(error), call)
  }
  missing_from(quote(score_losses(list(a = 1:3), n_learn = 80)), "n_test")
  missing_from(quote(prediction_losses(1:3)), "predictions")
  missing_from(quote(correct_losses()), "correct")
  missing_from(quote(noninferiority(1)), "margin")
  missing_from(quote(equivalence(1, 0.1)), "high")
  missing_from(quote(methods_text()), "result")
  missing_from(quote(citation_of()), "result")
  missing_from(quote(best_set()), "comparison")
  missing_from(quote(disjoint_sets()), "learn_size")
  missing_from(quote(r_learner()), "f")
  missing_from(quote(light_code_bounds(1, 2)), "weight")
  missing_from(quote(critical_values(0.05)), "n0")
})

test_that("missing values are refused by name", {
  holes <- two_species()
  holes$Sepal.Width[c(2, 5)] <- NA
  expect_equal(message_of(ustat_test(holes[1:3], holes$Species, "lda")), paste0(
    "'x' has missing values in 2 rows (Sepal.Width), which learner lda cannot use: drop these ",
    "observations (na.action = na.omit with a formula), or impute them inside an R learner, from ",
    "what it learns from: function(x, y, xnew)"))
  expect_match(message_of(ustat_test(Species ~ ., holes, "lda")), fixed = TRUE,
               "'data' has missing values in 2 rows (Sepal.Width), which learner lda cannot use")
  expect_equal(message_of(ustat_test(x, replace(y, 3, NA), "lda")),
               paste0("'y' has missing values in 1 row: drop these observations (na.action = na.omit with ",
                      "a formula), or impute them"))
})

test_that("infinite values are refused with the row that R counts", {
  expected <- "'x' has infinite values, the first in row 3: drop these observations, or impute them"
  infinite <- replace(x, c(3, 60 + 7), Inf)
  expect_equal(message_of(ustat_test(infinite, y, "lda")), expected)
  expect_equal(message_of(ustat_test(as.data.frame(infinite), y, "lda")), expected)
  expect_equal(message_of(ustat_test(y ~ infinite, learner = "lda")), expected)
  expect_equal(message_of(ustat_test(x, replace(as.numeric(y), 4, -Inf), "ridge:1")),
               "'y' has infinite values, the first in row 4: drop these observations, or impute them")
})

test_that("columns that would become numbers of another unit are refused by name", {
  data <- two_species()
  remedy <- ": make them numbers in a unit of your own by as.numeric(), or drop them"
  for (dates in list(as.POSIXct("2020-01-01", tz = "UTC") + 1:60, as.Date("2020-01-01") + 1:60,
                     as.difftime(1:60, units = "mins"), as.POSIXlt(as.Date("2020-01-01") + 1:60))) {
    data$when <- data$then <- dates
    expect_equal(message_of(ustat_test(data[-4], y, "lda")),
                 paste0("'x' has dates or times in columns then, when", remedy))
  }
  data$when <- data$then <- as.Date("2020-01-01") + 1:60
  expect_equal(message_of(ustat_test(Species ~ Sepal.Width + when, data, "lda")),
               paste0("'data' has dates or times in column when", remedy))
  expect_equal(message_of(ustat_test(Species ~ I(when - min(when)), data, "lda")),
               paste0("'data' has dates or times in column I(when - min(when))", remedy))
  then <- data$then
  expect_equal(message_of(ustat_test(y ~ x + then, learner = "lda")),
               paste0("'formula' has dates or times in column then", remedy))
  expect_equal(message_of(compare_learners(data[-4], y, c("lda", "knn:1"))),
               paste0("'x' has dates or times in columns then, when", remedy))
  months <- Species ~ as.numeric(when) + factor(months(when))
  expect_silent(ucvtest:::formula_method(function(x, y, ...) list())(months, data))
})

test_that("codes with labels, and imputed data, are refused with what makes a table of them", {
  of_haven <- function(codes)
    structure(codes, labels = c(no = 0, yes = 1), class = c("haven_labelled", "vctrs_vctr", "double"))
  data <- two_species()
  data$sick <- of_haven(rep(0:1 + 0, 30))
  message <- function(table)
    paste0("'", table, "' has codes with labels (haven_labelled) in column sick: make them factors by ",
           "haven::as_factor(), or numbers by haven::zap_labels()")
  expect_equal(message_of(ustat_test(data[-4], y, "lda")), message("x"))
  expect_equal(message_of(ustat_test(Species ~ ., data, "lda")), message("data"))
  expect_equal(message_of(ustat_test(factor(sick) ~ Sepal.Width, data, "lda")), message("data"))
  sick <- data$sick
  expect_match(message_of(ustat_test(x, sick, "lda")), "'y' has codes with labels .*as_factor\\(y\\)")
  expect_silent(ucvtest:::formula_method(function(x, y, ...) list())(Species ~ Sepal.Width, data))
  imputed <- structure(list(data = data[1:3], m = 5L), class = "mids")
  expect_match(message_of(ustat_test(Species ~ ., imputed, "lda")),
               "^'data' is a mids of mice.*mice::complete\\(data, 1\\)")
  expect_match(message_of(compare_learners(imputed, y, c("lda", "knn:1"))), "^'x' is a mids of mice")
  fits <- structure(list(analyses = list(1, 2)), class = c("mira", "matrix"))
  expect_match(message_of(ustat_test(Species ~ ., fits, "lda")), "^'data' is a mira of mice, which has fit")
})

test_that("complex numbers and long integers are refused by name", {
  data <- two_species()[1:3]
  data$z <- complex(real = 1:60)
  remedy <- ": pass Re() of them, Re() and Im() as two columns, or drop them"
  expect_equal(message_of(ustat_test(data, y, "lda")),
               paste0("'x' has complex numbers in column z", remedy))
  expect_equal(message_of(ustat_test(y ~ z, data, "lda")),
               paste0("'data' has complex numbers in column z", remedy))
  expect_equal(message_of(ustat_test(x + 1i, y, "lda")), paste(
    "'x' must be a numeric matrix or a data frame, got matrix of 60 x 3 of complex numbers:",
    "pass Re(x), or cbind(Re(x), Im(x))"))
  data$z <- structure(1:60 / 2^60, class = "integer64")
  expect_equal(message_of(ustat_test(data, y, "lda")), paste0(
    "'x' has 64-bit integers in column z: make them numbers by as.numeric(), or drop them"))
  expect_equal(message_of(ustat_test(x, data$z, "lda")), paste(
    "'y' must be a vector or a factor, got integer64 of length 60: use as.numeric(y) if they are",
    "amounts, factor(y) if they are labels"))
  expect_equal(message_of(ustat_test(x, as.Date("2020-01-01") + 1:60, "lda")), paste(
    "'y' must be a vector or a factor, got Date of length 60: use as.numeric(y) if they are",
    "amounts, factor(y) if they are labels"))
})

test_that("numbers that are text are refused by name", {
  comma <- function(numbers) sub(".", ",", numbers, fixed = TRUE)
  remedy <- paste0(": read the file by read.csv2(), or by read.csv(dec = \",\"), or make them numbers ",
                   "by as.numeric(sub(\",\", \".\", column, fixed = TRUE))")
  data <- two_species()[c(1, 2, 4)]
  right <- data$Sepal.Width
  data$Sepal.Width <- comma(data$Sepal.Width)
  said <- paste0(" has numbers with decimal commas that are text in column Sepal.Width", remedy)
  expect_equal(message_of(ustat_test(data[1:2], y, "lda")), paste0("'x'", said))
  expect_equal(message_of(ustat_test(Species ~ ., data, "lda")), paste0("'data'", said))
  expect_equal(as.numeric(sub(",", ".", data$Sepal.Width, fixed = TRUE)), right)
  # Some are whole numbers, some missing, and read.csv(stringsAsFactors = TRUE) makes factors.
  data$Sepal.Width <- factor(replace(data$Sepal.Width, 1:4, c("3", "", NA, "-1,5e-3")))
  expect_equal(message_of(ustat_test(data[1:2], y, "lda")), paste0("'x'", said))
  expect_equal(message_of(ustat_test(x, comma(right), "lda")),
               paste0("'y' has numbers with decimal commas that are text", remedy))
  data$Sepal.Width <- as.character(right)
  expect_equal(message_of(ustat_test(data[1:2], y, "lda")), paste(
    "'x' has numbers that are text in column Sepal.Width: make them numbers by as.numeric(), or",
    "factor() if they are labels"))
  expect_equal(message_of(ustat_test(x, as.character(right), "lda")), paste(
    "'y' has numbers that are text: use as.numeric(y) if they are amounts, factor(y) if they are",
    "labels"))
  takes <- ucvtest:::feature_matrix
  data$Sepal.Width <- factor(data$Sepal.Width)
  data$grade <- rep(c("1", "2", "3"), 20)
  data$range <- cut(right, 4)
  # A file in Latin-1 that was read as UTF-8.
  data$town <- rep(c("Z\xfcrich", "Basel"), 30)
  expect_equal(nrow(takes(data[-3])), 60L)
})

test_that("switches are TRUE or FALSE", {
  skip_without_python()
  for (design in list(hold_out(shuffle = "no"), hold_out(shuffle = 0)))
    expect_match(message_of(hold_out_test(x, y, "lda", design = design)),
                 "shuffle must be TRUE or FALSE, got")
  expect_equal(hold_out(shuffle = TRUE), hold_out())
})

test_that("errors name the user's call", {
  error <- expect_error(ustat_test(x, y, NULL))
  expect_equal(conditionCall(error), quote(ustat_test(x, y, NULL)))
})

test_that("errors of Python are classed conditions", {
  skip_without_python()
  error <- expect_error(ustat_test(x, y, "lda", learn_size = 0L), class = "python_ValueError")
  expect_s3_class(error, c("python_ValueError", "python_error", "error", "condition"),
                  exact = TRUE)
  expect_match(conditionMessage(error), "^learn_size ")
  expect_equal(conditionCall(error), quote(ustat_test(x, y, "lda", learn_size = 0L)))
  expect_error(ustat_test(x, y, "lda", n_pairs = 2.5), "n_pairs", class = "python_ValueError")
  expect_error(ustat_test(x, y, "lda", max_fits = NA), class = "python_ValueError",
               "max_fits must not be NA: use NULL for the default")
  expect_error(ustat_test(x, y, "lda", tol = 1:2), class = "python_ValueError",
               "tol must be a single value, or NULL for the default")
})

test_that("whole numbers as a response have remedies that R can take", {
  skip_without_python()
  expect_equal(message_of(ustat_test(x, 1:60, "lda")), paste(
    "y contains 60 different whole numbers in 60 observations: pass loss = \"squared\" or",
    "\"absolute\" if they are amounts, loss = \"zero_one\" or factor(y) if they are labels"))
  twice <- factor(rep(1:30, 2))
  expect_s3_class(seeded(x, twice, "majority", n_pairs = 20, variance = "clipped"), "htest")
})

test_that("warnings of Python are R warnings", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", n_pairs = 20, variance = "midpoint")
  expect_match(result$status, "raise n_pairs")
  expect_warning(confint(result), "^no confidence interval: ", class = "python_warning")
})

test_that("predictions that cannot be used are refused", {
  skip_without_python()
  message_for <- function(learner, ...)
    message_of(ustat_test(x, y, learner, ...))
  expect_match(message_for(function(x, y, xnew) y[1:3]),
               "learner learner failed on split 1: it returned 3 predictions for 31 rows of xnew: return one for each row")
  expect_match(message_for(function(x, y, xnew) rep("rose", nrow(xnew))), paste(
    "it returned rose, but the labels are virginica, versicolor:",
    "return labels as in y for this loss"))
  expect_match(message_for(function(x, y, xnew) rep(1, nrow(xnew))),
               "it returned 1, but the labels are virginica, versicolor")
  expect_match(message_for(function(x, y, xnew) list()), paste(
    "it returned no vector: return one prediction for each row of xnew, for example",
    "predict(fit, xnew)$class"), fixed = TRUE)
  expect_match(message_for(function(x, y, xnew) rep(NA_real_, nrow(xnew)), loss = "log",
                           positive = "versicolor"), "it returned NA for 31 of 31 rows of xnew")
  expect_match(message_for(function(x, y, xnew) c(NA, rep("virginica", nrow(xnew) - 1))),
               "it returned NA for 1 of 31 rows of xnew")
  expect_match(message_for(function(x, y, xnew) rep(Inf, nrow(xnew)), loss = "log",
                           positive = "versicolor"), paste(
    "it must return finite numbers for this loss",
    "(the probability of the second class)"), fixed = TRUE)
})

test_that("warnings of an R learner are R warnings, once for each text", {
  skip_without_python()
  learner <- function(x, y, xnew) {
    warning("not converged")
    rep(y[1], nrow(xnew))
  }
  caught <- character()
  withCallingHandlers(
    ustat_test(x, y, learner, n_pairs = 20),
    warning = function(w) {
      caught <<- c(caught, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
  expect_equal(caught[caught == "not converged"], "not converged")
})

test_that("a misspelt confidence level is an error", {
  result <- structure(class = c("ucvtest", "htest"), list(conf.level = 0.95))
  expect_equal(message_of(confint(result, conf.level = 0.9)),
               "unknown argument 'conf.level': the confidence level of confint() is 'level'")
  expect_match(message_of(confint(result, 0.9)), "^unknown argument 'parm': .* is 'level'$")
  expect_equal(message_of(summary(result, level = 0.9)),
               "unknown argument 'level': the confidence level of summary() is 'conf.level'")
  expect_equal(message_of(tidy(result, level = 0.9)),
               "unknown argument 'level': the confidence level of tidy() is 'conf.level'")
  expect_equal(message_of(glance(result, 3)), "unknown argument")
  expect_equal(message_of(confint(result, level = 90)),
               "'level' must be a number between 0 and 1, such as 0.95")
})

test_that("a missing Python is an error that says what to do", {
  before <- options(ucvtest.python = file.path(tempdir(), "no-python"))
  on.exit(options(before))
  error <- expect_error(ucvtest:::find_python(), class = "ucvtest_python_missing")
  expect_equal(conditionMessage(error), paste0(
    "ucvtest needs a Python with the package 'ucvtest[r]':\n  ", tempdir(), "/no-python does not ",
    "exist\nName the Python to use in options(ucvtest.python = ) or the environment variable ",
    "UCVTEST_PYTHON."))
})

test_that("a fork that comes too late says so instead of waiting forever", {
  skip_on_os("windows")
  skip_without_python()
  x <- cbind(a = sin(1:24), b = cos(1:24))
  y <- rep(c("one", "two"), 12)
  run <- function(i) tryCatch(corrected_t_test(x, y, "lda", "majority")$method,
                              error = conditionMessage)
  expect_match(run(1), "t test", ignore.case = TRUE)
  found <- parallel::mclapply(1:2, run, mc.cores = 2L)
  for (message in found) expect_match(message, "forked.*use a PSOCK cluster")
  expect_match(run(1), "t test", ignore.case = TRUE)
})

test_that("learners of losses are counted from 1", {
  losses <- prediction_losses(y, data.frame(a = y, b = rev(y)))
  expect_equal(hold_out_test(losses, 1, 2)$settings[c("learner", "other")],
               list(learner = "a", other = "b"))
  expect_equal(message_of(hold_out_test(losses, 1, 3)),
               "'other' must be the name of a learner, or a number from 1 to 2, got 3")
  expect_match(message_of(hold_out_test(losses, "a", "c")), fixed = TRUE,
               "learner 'c' is neither one of a, b nor a number from 1 to 2")
  expect_equal(message_of(compare_learners(x, y, c("lda", "knn:5"), "corrected_t", baseline = 3)),
               "'baseline' must be the name of a learner, or a number from 1 to 2, got 3")
  against_first <- compare_learners(x, y, c("lda", "knn:5"), "corrected_t", baseline = 1)
  expect_equal(against_first$other, "lda")
})

test_that("results in the place of features are told where they belong", {
  as_class <- function(class) structure(list(), class = class)
  rs <- as_class("resamples")
  fit1 <- fit2 <- as_class(c("train", "train.formula"))
  splits <- as_class(c("vfold_cv", "rset"))
  expect_equal(message_of(corrected_t_test(rs)), paste0(
    "'x' is a resamples, which has no features: to test resamples, use as_losses(): type  ",
    "corrected_t_test(as_losses(rs, n = nrow(data)))"))
  expect_match(message_of(corrected_t_test(fit1, fit2)), fixed = TRUE,
               "type  corrected_t_test(as_losses(list(a = fit1, b = fit2)))")
  expect_match(message_of(compare_learners(fit1)),
               "type  compare_learners\\(as_losses\\(fit1\\)\\)$")
  expect_match(message_of(hold_out_test(splits)), "of rsample, .* design = splits\\)$")
  expect_equal(message_of(mcnemar_learners_test(y, y, rev(y))), paste0(
    "'x' is a factor and no table of features: to test predictions that exist, use ",
    "prediction_losses(): type  ",
    "mcnemar_learners_test(prediction_losses(y, data.frame(a = y, b = rev(y))))"))
  score <- x[, 1]
  expect_match(message_of(delong_learners_test(y, score, score)), fixed = TRUE,
               "(prediction_losses(y, data.frame(a = score, b = score), loss = \"auc\"))")
  expect_match(message_of(delong_learners_test(y, score)), "data.frame\\(a = score\\), loss")
})

test_that("formulas of mixed models and subsets without rows are told", {
  cars <- transform(mtcars, am = factor(am))
  expect_equal(message_of(ustat_test(am ~ wt, cars, "lda", subset = wt > 99)),
               "subset leaves no rows")
  expect_equal(message_of(ustat_test(am ~ wt, cars, "lda", subset = integer())),
               "subset leaves no rows")
  expect_equal(message_of(ustat_test(am ~ wt + (1 | cyl), cars, "glm")), paste0(
    "'|' in a formula, as in 1 | cyl, is for mixed models: give groups = cyl for rows that belong ",
    "together, or I(a | b) for a logical 'or'"))
  expect_match(message_of(ustat_test(am ~ wt | cyl, cars, "lda")), "give groups = cyl")
  expect_null(refuse_bars(quote(wt + I(cyl > 4 | hp > 90))))
})

test_that("fits, curves and comparisons in a wrong place are named", {
  two <- droplevels(subset(iris, Species != "setosa"))
  fit <- structure(list(method = "rpart"), class = c("train", "train.formula"))
  said <- "so instead of a fit give function(x, y, xnew) predict(caret::train(x, y, method = \"rpart\"), xnew)"
  expect_match(message_of(corrected_t_test(Species ~ ., two, fit, "lda")), said, fixed = TRUE)
  expect_match(message_of(corrected_t_test(Species ~ ., two, "lda", lm(Sepal.Length ~ 1, two))),
               "so instead of a fit give \"glm\", \"MASS::lda\" or a function", fixed = TRUE)
  curve <- structure(list(), class = "roc")
  other_curve <- curve
  expect_match(message_of(delong_learners_test(curve, other_curve)), fixed = TRUE,
               "type  delong_learners_test(as_losses(list(a = curve, b = other_curve)))")
  comparison <- structure(data.frame(p = 1), class = c("ucvtest_comparison", "data.frame"))
  expect_match(message_of(noninferiority(comparison, 0.05)), "^'result' is a comparison, which has")
  expect_match(message_of(equivalence(comparison, -0.1, 0.1)), "^'result' is a comparison, which has")
})

test_that("a function that takes a matrix for a data frame is told so", {
  skip_without_python()
  two <- droplevels(subset(iris, Species != "setosa"))
  by_column <- function(x, y, xnew) ifelse(xnew$Petal.Width > 1.7, "virginica", "versicolor")
  expect_match(message_of(corrected_t_test(Species ~ Petal.Width, two, by_column, "lda")), fixed = TRUE,
               ": x and xnew are matrices, so write xnew[, \"Petal.Width\"] for a column")
  expect_s3_class(corrected_t_test(two["Petal.Width"], two$Species, by_column, "lda"), "ucvtest")
})
