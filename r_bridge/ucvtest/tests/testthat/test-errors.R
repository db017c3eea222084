test_that("arguments are checked before Python starts", {
  data <- two_species()
  what <- "must be the name of a learner, such as \"lda\" or .*, or a function\\(x, y, xnew\\), got "
  expect_refused(
    ustat_test(x, y, 3) ~ paste0("^'learner' ", what, "numeric of length 1$"),
    ustat_test(x, y, "lda", list()) ~ paste0("^'other' ", what, "list of length 0$"),
    ustat_test(x) ~ "^'y' is missing: give the response, or a formula and data",
    ustat_test(x, y) ~ "^'learner' is missing: name one, such as \"lda\"",
    ustat_test(Species ~ ., data) ~ "^'learner' is missing: name one, such as \"lda\"",
    ustat_test(x[, 1], y, "lda") ~ "^'x' must be .*, got numeric of length 60: use cbind\\(x\\) for a single",
    ustat_test(x, y, "lda", conf.level = 95) ~ "'conf.level' must be a number between 0 and 1, such as 0.95",
    ustat_test(x, y, "lda", alternative = "both") ~ "'alternative' must be one of \"two.sided\", \"less\",",
    ustat_test(x, y, "lda", folds = 3) ~ "unknown argument 'folds': see \\?ustat_test",
    ustat_test(~ Species, data, "lda") ~ "'formula' must have a response: write  response ~ terms",
    ustat_test(Species ~ offset(Sepal.Width), data, "lda") ~ "'formula' has an offset, which learners cannot",
    ustat_test(Species ~ 1, data, "lda") ~ "'x' has no columns",
    ustat_test(x, cbind(1:60, 1:60), "lda") ~ "'y' must be a vector or a factor, got matrix of 60 x 2")
})

test_that("arguments that are missing are refused by name, in the user's call", {
  missing_from <- alist(
    n_test = score_losses(list(a = 1:3), n_learn = 80), predictions = prediction_losses(1:3),
    correct = correct_losses(), margin = noninferiority(1), high = equivalence(1, 0.1),
    result = methods_text(), result = citation_of(), comparison = best_set(),
    learn_size = disjoint_sets(), f = r_learner(), weight = light_code_bounds(1, 2),
    n0 = critical_values(0.05))
  for (place in seq_along(missing_from)) {
    error <- expect_error(eval(missing_from[[place]]),
                          paste0("^'", names(missing_from)[place], "' is missing: give "))
    expect_equal(conditionCall(error), missing_from[[place]])
  }
})

test_that("missing and infinite values are refused by name, with the row that R counts", {
  holes <- two_species()
  holes$Sepal.Width[c(2, 5)] <- NA
  infinite <- replace(x, c(3, 60 + 7), Inf)
  lacks <- "has missing values in 2 rows \\(Sepal.Width\\), which learner lda cannot use: drop .*na.action"
  ends <- "'x' has infinite values, the first in row 3: drop these observations, or impute them"
  expect_refused(
    ustat_test(holes[1:3], holes$Species, "lda") ~ paste0("^'x' ", lacks),
    ustat_test(Species ~ ., holes, "lda") ~ paste0("^'data' ", lacks),
    ustat_test(x, replace(y, 3, NA), "lda") ~ "^'y' has missing values in 1 row: drop .*na.action = na.omit",
    ustat_test(infinite, y, "lda") ~ ends,
    ustat_test(as.data.frame(infinite), y, "lda") ~ ends,
    ustat_test(y ~ infinite, learner = "lda") ~ ends,
    ustat_test(x, replace(as.numeric(y), 4, -Inf), "ridge:1") ~ "'y' has infinite values, the first in row 4")
})

test_that("columns that would become numbers of another unit are refused by name", {
  data <- two_species()
  remedy <- ": make them numbers in a unit of your own by as.numeric\\(\\), or drop them"
  dates <- as.Date("2020-01-01") + 1:60
  both <- paste0("^'x' has dates or times in columns then, when", remedy)
  for (dates in list(dates + 0.5, as.POSIXct(dates), as.difftime(1:60, units = "mins"), as.POSIXlt(dates))) {
    data$when <- data$then <- dates
    expect_refused(ustat_test(data[-4], y, "lda") ~ both)
  }
  data$when <- data$then <- then <- as.Date(dates)
  first <- Species ~ I(when - min(when))
  expect_refused(
    ustat_test(Species ~ Sepal.Width + when, data, "lda") ~ "^'data' has dates or times in column when: ",
    ustat_test(first, data, "lda") ~ "^'data' has dates or times in column I\\(when - min\\(when\\)\\): ",
    ustat_test(y ~ x + then, learner = "lda") ~ paste0("^'formula' has dates or times in column then", remedy),
    compare_learners(data[-4], y, c("lda", "knn:1")) ~ both)
  months <- Species ~ as.numeric(when) + factor(months(when))
  expect_silent(ucvtest:::formula_method(function(x, y, ...) list())(months, data))
})

test_that("codes with labels, and imputed data, are refused with what makes a table of them", {
  data <- two_species()
  data$sick <- structure(rep(0:1 + 0, 30), labels = c(no = 0, yes = 1),
                         class = c("haven_labelled", "vctrs_vctr", "double"))
  sick <- data$sick
  codes <- "has codes with labels \\(haven_labelled\\) in column sick: make .* by haven::as_factor\\(\\), or numbers"
  imputed <- structure(list(data = data[1:3], m = 5L), class = "mids")
  fits <- structure(list(analyses = list(1, 2)), class = c("mira", "matrix"))
  expect_refused(
    ustat_test(data[-4], y, "lda") ~ paste0("^'x' ", codes),
    ustat_test(Species ~ ., data, "lda") ~ paste0("^'data' ", codes),
    ustat_test(factor(sick) ~ Sepal.Width, data, "lda") ~ paste0("^'data' ", codes),
    ustat_test(x, sick, "lda") ~ "'y' has codes with labels .*as_factor\\(y\\)",
    ustat_test(Species ~ ., imputed, "lda") ~ "^'data' is a mids of mice.*mice::complete\\(data, 1\\)",
    compare_learners(imputed, y, c("lda", "knn:1")) ~ "^'x' is a mids of mice",
    ustat_test(Species ~ ., fits, "lda") ~ "^'data' is a mira of mice, which has fit")
  expect_silent(ucvtest:::formula_method(function(x, y, ...) list())(Species ~ Sepal.Width, data))
})

test_that("complex numbers and long integers are refused by name", {
  data <- two_species()[1:3]
  data$z <- complex(real = 1:60)
  long <- structure(1:60 / 2^60, class = "integer64")
  with_long <- data
  with_long$z <- long
  amounts <- "got %s of length 60: use as.numeric\\(y\\) if they are amounts, factor\\(y\\) if they are labels"
  expect_refused(
    ustat_test(data, y, "lda") ~ "^'x' has complex numbers in column z: pass Re\\(\\) of them",
    ustat_test(y ~ z, data, "lda") ~ "^'data' has complex numbers in column z: pass Re\\(\\) of them",
    ustat_test(x + 1i, y, "lda") ~ "'x' must be .*got matrix of 60 x 3 of complex numbers: pass Re\\(x\\), or",
    ustat_test(with_long, y, "lda") ~ "'x' has 64-bit integers in column z: make them numbers",
    ustat_test(x, long, "lda") ~ sprintf(amounts, "integer64"),
    ustat_test(x, as.Date("2020-01-01") + 1:60, "lda") ~ sprintf(amounts, "Date"))
})

test_that("numbers that are text are refused by name", {
  comma <- function(numbers) sub(".", ",", numbers, fixed = TRUE)
  commas <- "has numbers with decimal commas that are text%s: read the file by read.csv2\\(\\), .* by as.numeric"
  of_column <- sprintf(commas, " in column Sepal.Width")
  data <- two_species()[c(1, 2, 4)]
  right <- data$Sepal.Width
  data$Sepal.Width <- comma(data$Sepal.Width)
  text <- transform(data, Sepal.Width = as.character(right))
  # Some are whole numbers, some missing, and read.csv(stringsAsFactors = TRUE) makes factors.
  factors <- transform(data, Sepal.Width = factor(replace(Sepal.Width, 1:4, c("3", "", NA, "-1,5e-3"))))
  expect_refused(
    ustat_test(data[1:2], y, "lda") ~ paste0("^'x' ", of_column),
    ustat_test(Species ~ ., data, "lda") ~ paste0("^'data' ", of_column),
    ustat_test(factors[1:2], y, "lda") ~ paste0("^'x' ", of_column),
    ustat_test(x, comma(right), "lda") ~ paste0("^'y' ", sprintf(commas, "")),
    ustat_test(text[1:2], y, "lda") ~ "'x' has numbers that are text in column Sepal.Width: make them numbers",
    ustat_test(x, as.character(right), "lda") ~ "'y' has numbers that are text: use as.numeric\\(y\\) if they are")
  data$Sepal.Width <- factor(right)
  data$grade <- rep(c("1", "2", "3"), 20)
  data$range <- cut(right, 4)
  # A file in Latin-1 that was read as UTF-8.
  data$town <- rep(c("Z\xfcrich", "Basel"), 30)
  expect_equal(nrow(ucvtest:::feature_matrix(data[-3])), 60L)
})

test_that("errors of Python are classed conditions with the user's call", {
  error <- expect_error(ustat_test(x, y, NULL))
  expect_equal(conditionCall(error), quote(ustat_test(x, y, NULL)))
  skip_without_python()
  error <- expect_error(ustat_test(x, y, "lda", learn_size = 0L), class = "python_ValueError")
  expect_s3_class(error, c("python_ValueError", "python_error", "error", "condition"),
                  exact = TRUE)
  expect_equal(conditionCall(error), quote(ustat_test(x, y, "lda", learn_size = 0L)))
  whole <- "60 different whole numbers .*: pass loss = \"squared\" .* loss = \"zero_one\" if they are labels, or factor\\(y\\)"
  expect_refused(
    ustat_test(x, y[-1], "lda") ~ "^x and y must have the same length, got 60 rows and 59 responses",
    ustat_test(x, y, "lda", learn_size = 0L) ~ "^learn_size ",
    ustat_test(x, y, "lda", n_pairs = 2.5) ~ "^n_pairs ",
    ustat_test(x, y, "lda", max_fits = NA) ~ "max_fits must not be NA: use NULL for the default",
    ustat_test(x, y, "lda", tol = 1:2) ~ "tol must be a single value, or NULL for the default",
    ustat_test(x, 1:60, "lda") ~ whole,
    hold_out_test(x, y, "lda", design = hold_out(shuffle = "no")) ~ "shuffle must be TRUE or FALSE, got",
    hold_out_test(x, y, "lda", design = hold_out(shuffle = 0)) ~ "shuffle must be TRUE or FALSE, got")
})

test_that("predictions that cannot be used are refused", {
  skip_without_python()
  of <- function(learner, ...) ustat_test(x, y, learner, ...)
  log_of <- function(learner) of(learner, loss = "log", positive = "versicolor")
  expect_refused(
    of(function(x, y, xnew) y[1:3]) ~ "learner learner failed on split 1: it returned 3 predictions for 31 rows of",
    of(function(x, y, xnew) rep("rose", nrow(xnew))) ~ "returned rose, but the labels are virginica, versicolor: ret",
    of(function(x, y, xnew) rep(1, nrow(xnew))) ~ "it returned 1, but the labels are virginica, versicolor",
    of(function(x, y, xnew) list()) ~ "it returned no vector: return one .* for example predict\\(fit, xnew\\)\\$class",
    log_of(function(x, y, xnew) rep(NA_real_, nrow(xnew))) ~ "it returned NA for 31 of 31 rows of xnew",
    of(function(x, y, xnew) c(NA, rep("virginica", nrow(xnew) - 1))) ~ "it returned NA for 1 of 31 rows of xnew",
    log_of(function(x, y, xnew) rep(Inf, nrow(xnew))) ~ "must return finite numbers .*probability of the second")
})

test_that("warnings of an R learner are R warnings, once for each text", {
  skip_without_python()
  learner <- function(x, y, xnew) {
    warning("not converged")
    rep(y[1], nrow(xnew))
  }
  caught <- capture_warnings(ustat_test(x, y, learner, n_pairs = 20))
  expect_equal(caught[caught == "not converged"], "not converged")
})

test_that("a misspelt confidence level is an error", {
  result <- structure(class = c("ucvtest", "htest"), list(conf.level = 0.95))
  expect_refused(
    confint(result, conf.level = 0.9) ~ "'conf.level': the confidence level of confint\\(\\) is 'level'",
    confint(result, 0.9) ~ "^unknown argument 'parm': .* is 'level'$",
    summary(result, level = 0.9) ~ "'level': the confidence level of summary\\(\\) is 'conf.level'",
    tidy(result, level = 0.9) ~ "'level': the confidence level of tidy\\(\\) is 'conf.level'",
    glance(result, 3) ~ "^unknown argument$",
    confint(result, level = 90) ~ "'level' must be a number between 0 and 1, such as 0.95")
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
  compared <- function(baseline) compare_learners(x, y, c("lda", "knn:5"), "hold_out", baseline = baseline)
  name <- "must be the name of a learner, or a number from 1 to 2, got 3"
  expect_refused(
    hold_out_test(losses, 1, 3) ~ paste("'other'", name),
    hold_out_test(losses, "a", "c") ~ "learner 'c' is neither one of a, b nor a number from 1 to 2",
    compared(3) ~ paste("'baseline'", name))
  expect_equal(compared(1)$other, "lda")
})

test_that("fits, curves, splits and comparisons in a wrong place are told where they belong", {
  as_class <- function(...) structure(list(method = "rpart"), class = c(...))
  rs <- as_class("resamples")
  fit1 <- fit2 <- as_class("train", "train.formula")
  splits <- as_class("vfold_cv", "rset")
  curve <- other_curve <- as_class("roc")
  score <- x[, 1]
  two <- two_species()
  comparison <- structure(data.frame(p = 1), class = c("ucvtest_comparison", "data.frame"))
  expect_refused(
    corrected_t_test(rs) ~ "is a resamples, .*: type  corrected_t_test\\(as_losses\\(rs, n = nrow\\(data\\)\\)\\)$",
    corrected_t_test(fit1, fit2) ~ "type  corrected_t_test\\(as_losses\\(list\\(a = fit1, b = fit2\\)\\)\\)",
    compare_learners(fit1) ~ "type  compare_learners\\(as_losses\\(fit1\\)\\)$",
    hold_out_test(splits) ~ "of rsample, .* design = splits\\)$",
    mcnemar_learners_test(y, y, rev(y)) ~ "is a factor .*prediction_losses\\(y, data.frame\\(a = y, b = rev\\(y\\)\\)\\)\\)$",
    delong_learners_test(y, score, score) ~ "data.frame\\(a = score, b = score\\), loss = \"auc\"\\)\\)",
    delong_learners_test(y, score) ~ "data.frame\\(a = score\\), loss",
    delong_learners_test(curve, other_curve) ~ "as_losses\\(list\\(a = curve, b = other_curve\\)\\)\\)",
    corrected_t_test(Species ~ ., two, fit1, "lda") ~ "instead of a fit give .*caret::train\\(x, y, method = \"rpart\"\\)",
    corrected_t_test(Species ~ ., two, "lda", lm(Sepal.Length ~ 1, two)) ~ "instead of a fit give \"glm\", \"MASS",
    noninferiority(comparison, 0.05) ~ "^'result' is a comparison, which has",
    equivalence(comparison, -0.1, 0.1) ~ "^'result' is a comparison, which has")
})

test_that("formulas of mixed models and subsets without rows are told", {
  cars <- transform(mtcars, am = factor(am))
  expect_refused(
    ustat_test(am ~ wt, cars, "lda", subset = wt > 99) ~ "subset leaves no rows",
    ustat_test(am ~ wt, cars, "lda", subset = integer()) ~ "subset leaves no rows",
    ustat_test(am ~ wt + (1 | cyl), cars, "glm") ~ "1 \\| cyl, is for mixed models: give groups = cyl .*or I\\(a \\| b\\)",
    ustat_test(am ~ wt | cyl, cars, "lda") ~ "give groups = cyl")
  expect_null(refuse_bars(quote(wt + I(cyl > 4 | hp > 90))))
})

test_that("a function that takes a matrix for a data frame is told so", {
  skip_without_python()
  two <- droplevels(subset(iris, Species != "setosa"))
  by_column <- function(x, y, xnew) ifelse(xnew$Petal.Width > 1.7, "virginica", "versicolor")
  expect_match(message_of(corrected_t_test(Species ~ Petal.Width, two, by_column, "lda")), fixed = TRUE,
               ": x and xnew are matrices, so write xnew[, \"Petal.Width\"] for a column")
  expect_s3_class(corrected_t_test(two["Petal.Width"], two$Species, by_column, "lda"), "ucvtest")
})
