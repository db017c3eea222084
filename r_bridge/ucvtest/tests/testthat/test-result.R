test_that("results can be taken apart", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  row <- as.data.frame(result)
  expect_equal(nrow(row), 1L)
  expect_equal(c(row$conf.low, row$conf.high), as.vector(result$conf.int))
  expect_equal(c(row$learner, row$other), c("lda", "nearest_centroid"))
  expect_named(tidy(result), c("learner", "other", "estimate", "estimate1", "estimate2", "std.error",
                               "statistic", "p.value", "parameter", "conf.low", "conf.high",
                               "method", "alternative"))
  own <- result$tables$Learners
  expect_equal(c(tidy(result)$estimate1, tidy(result)$estimate2), own$estimate)
  expect_equal(rownames(confint(result)), "lda - nearest_centroid")
  wider <- tidy(result, conf.level = 0.99)
  expect_equal(c(wider$conf.low, wider$conf.high), as.vector(confint(result, level = 0.99)))
  expect_equal(as.data.frame(glance(result))[c("nobs", "n_fits", "status")],
               data.frame(nobs = 60L, n_fits = result$n_fits, status = "ok"))
})

test_that("intervals of other levels come from the saved result", {
  skip_without_python()
  result <- seeded(x, y, "lda", learn_size = 20, interval = "wald")
  file <- tempfile()
  saveRDS(result, file)
  result <- readRDS(file)
  expect_equal(as.vector(confint(result)), as.vector(result$conf.int))
  expect_equal(colnames(confint(result)), c("2.5 %", "97.5 %"))
  half <- qt(0.95, 59) * result$stderr
  expect_equal(as.vector(confint(result, level = 0.9)),
               unname(result$estimate) + c(-half, half))
})

test_that("ends of intervals are named by the probabilities below them", {
  skip_without_python()
  named <- function(alternative, level) {
    result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20, alternative = alternative)
    colnames(confint(result, level = level))
  }
  expect_equal(named("two.sided", 0.9), c("5 %", "95 %"))
  expect_equal(named("less", 0.975), c("0.0 %", "97.5 %"))
  expect_equal(named("greater", 0.95), c("5 %", "100 %"))
})

test_that("degrees of freedom without a statistic are not printed", {
  skip_without_python()
  alone <- seeded(x, y, "lda", learn_size = 20)
  expect_null(alone$parameter)
  expect_equal(alone$df, 59)
  expect_equal(tidy(alone)$parameter, 59)
  expect_false(any(grepl("df = ", capture.output(print(alone)), fixed = TRUE)))
})

test_that("rows repeat by chance as often as their variables", {
  skip_without_python()
  data <- data.frame(age = rep(20:39, 10), weight = rep(50:74, 8), ill = gl(2, 1, 200))
  for (terms in list(ill ~ age * weight, ill ~ poly(age, 2) + weight, ill ~ splines::ns(age, 3)))
    expect_no_warning(hold_out_test(terms, data, "lda"))
  data$marker <- sin((1:200)^2)
  expect_warning(hold_out_test(ill ~ age * weight + marker, rbind(data, data), "lda"),
                 "200 pairs of identical rows")
})

test_that("a column that names patients is named where results are printed", {
  skip_without_python()
  data <- data.frame(id = rep(sprintf("P%02d", 1:10), each = 4), age = sin(1:40),
                     ill = factor(rep(rep(c("no", "yes"), 5), each = 4)))
  note <- function(...) any(grepl("'id' of x is text that repeats.*groups", hold_out_test(...)$notes))
  expect_true(note(ill ~ ., data, "lda"))
  expect_true(note(ill ~ factor(id) + age, data, "lda"))
  expect_false(note(ill ~ ., data, "lda", groups = id))
  expect_false(note(ill ~ age, data, "lda"))
})

test_that("a column that determines the response is named where results are printed", {
  skip_without_python()
  data <- data.frame(age = sin(1:40), code = rep(c(3, 7), 20), ill = gl(2, 1, 40))
  shown <- function(...) paste(capture.output(print(hold_out_test(...))), collapse = " ")
  expect_match(shown(ill ~ age + code, data, "knn:3"), "Column 'code' of x determines")
  unnamed <- unname(as.matrix(data[c("age", "code")]))
  expect_match(shown(unnamed, data$ill, "knn:3"), "Column 2 of x determines")
  expect_no_match(shown(ill ~ age, data, "knn:3"), "determines")
})

test_that("tables come as data frames", {
  skip_without_python()
  table <- seeded(x, y, "lda", learn_size = 20)$tables$Variances
  expect_s3_class(table, "data.frame")
  expect_equal(table$variance[1], "midpoint")
  expect_true("jackknife" %in% table$variance)
  expect_type(table$estimate, "double")
})

test_that("each of two learners has its own value", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  own <- result$tables$Learners
  expect_s3_class(own, "data.frame")
  expect_named(own, c("learner", "estimate", "se"))
  expect_equal(own$learner, c("lda", "nearest_centroid"))
  expect_equal(own$estimate, c(result$diagnostics$estimate_learner,
                               result$diagnostics$estimate_other))
  expect_equal(own$se, c(result$diagnostics$se_learner, result$diagnostics$se_other))
  shown <- capture.output(print(summary(result)))
  expect_match(shown, "^ +Learners *$", all = FALSE)
  expect_null(seeded(x, y, "lda", learn_size = 20)$tables$Learners)
})

test_that("the summary is that of Python", {
  skip_without_python()
  shown <- capture.output(print(summary(seeded(x, y, "lda", learn_size = 20))))
  expect_match(shown, "learning from 20 observations", fixed = TRUE, all = FALSE)
})

test_that("the picture is drawn, one-sided intervals included", {
  skip_without_python()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (alternative in c("two.sided", "less", "greater")) {
    result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20, alternative = alternative)
    expect_identical(plot(result), result)
  }
})

# One of every mark and role, as Python sends them.
with_pictures <- function(...) {
  layer <- function(mark, x = numeric(), y = numeric(), label = "", role = "data", width = NULL)
    list(mark = mark, x = x, y = y, label = label, role = role, width = width)
  picture <- list(xlabel = "errors", ylabel = "probability", title = "", layers = list(
    layer("bars", 0:3, c(1, 3, 3, 1) / 8, "null"),
    layer("bars", 5, 0.1, width = 0.5, role = "other"),
    layer("area", c(0, 1, 2), c(0, 0.2, 0), "area", "other"),
    layer("line", c(0, Inf, 3), c(0, 1, 0.3), "line", "limit"),
    layer("points", 1, 0.3, "point"),
    layer("vertical", c(1, 2), label = "observed", role = "estimate"),
    layer("horizontal", y = 0.05, label = "level", role = "null")))
  structure(class = c("ucvtest", "htest"), list(
    estimate = c(AUC = 0.8), method = "m", data.name = "d", status = "ok", ...,
    pictures = list(null = picture)))
}

test_that("a line through one point is drawn as a point", {
  mark_of <- function(mark, x)
    ucvtest:::with_outline(list(mark = mark, x = x, y = x, role = "data"))$mark
  expect_equal(mark_of("line", 1), "points")
  expect_equal(mark_of("broken", 1), "points")
  expect_equal(mark_of("line", c(1, 2)), "line")
})

test_that("pictures that came as data are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  result <- with_pictures()
  expect_equal(ucvtest:::plot_kinds(result), c("null", "interval"))
  expect_equal(ucvtest:::plot_kinds(with_pictures(conf.int = c(0.7, 0.9))), c("interval", "null"))
  expect_identical(plot(result), result)
  # The bars have their width, and all layers room.
  usr <- graphics::par("usr")
  expect_lt(usr[1L], -0.5)
  expect_gt(usr[2L], 5.25)
  expect_gt(usr[4L], 1)
  plot(result, "interval")
  expect_equal(graphics::par("yaxp")[1:2], c(0, 2))
  expect_equal(message_of(plot(result, "nil")), "'kind' must be one of \"null\", \"interval\"")
})

test_that("a statistic without a reference distribution is neither t nor z", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", n_pairs = 10,
                   variance = "midpoint")
  expect_equal(result$reference, "none")
  expect_named(result$statistic, "statistic")
})

test_that("a status that is not ok is printed", {
  result <- structure(class = c("ucvtest", "htest"), list(
    method = "m", data.name = "d", statistic = c(z = NaN), p.value = NaN,
    status = "raise n_pairs"))
  shown <- paste(capture.output(print(result)), collapse = "\n")
  expect_match(shown, "status: raise n_pairs", fixed = TRUE)
  # Where there is no test, no number of one is printed; it stays in the object.
  expect_false(grepl("NaN|p-value", shown))
  expect_true(is.nan(result$p.value))
})

test_that("results say whether one learner is noninferior, or both equivalent", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  found <- noninferiority(result, 0.5)
  expect_s3_class(found, "htest")
  expect_equal(found$decision, "pass")
  expect_equal(as.vector(found$conf.int), as.vector(confint(result, level = 0.9)))
  expect_equal(unname(found$null.value), 0.5)
  both <- equivalence(result, -0.5, 0.5)
  expect_gte(both$p.value, found$p.value)
  expect_match(capture.output(print(both)), "Equivalent \\(within -0.5 to 0.5\\)",
               all = FALSE)
  expect_error(noninferiority(result, 0), "margin must be above 0")
  expect_error(equivalence(1, 0, 1), "'result' must be the result of one of this package's tests")
})

test_that("an answer about a margin is printed where there is no p-value", {
  skip_without_python()
  x <- iris[51:110, 1:2]
  y <- droplevels(iris$Species[51:110])
  set.seed(1)
  undecided <- suppressWarnings(
    ustat_test(x, y, "lda", "knn:1", learn_size = 20, n_pairs = 60,
               variance = "midpoint"))
  shown <- capture.output(print(noninferiority(undecided, margin = 0.05)))
  expect_match(paste(shown, collapse = " "), "n_pairs")
  expect_false(any(grepl("NaN", shown)))
})
