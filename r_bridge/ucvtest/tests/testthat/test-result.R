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
  # Each of two learners has its own value, in a data frame that is printed.
  own <- result$tables$Learners
  expect_equal(own, data.frame(learner = c("lda", "nearest_centroid"),
                               estimate = c(tidy(result)$estimate1, tidy(result)$estimate2),
                               se = unlist(result$diagnostics[c("se_learner", "se_other")])),
               ignore_attr = TRUE)
  shown <- capture.output(print(summary(result)))
  expect_match(shown, "^ +Learners *$", all = FALSE)
  expect_match(shown, "learning from 20 observations", fixed = TRUE, all = FALSE)
  expect_true("jackknife" %in% result$tables$Variances$variance)
  expect_equal(rownames(confint(result)), "lda - nearest_centroid")
  expect_equal(as.data.frame(glance(result))[c("nobs", "n_fits", "status")],
               data.frame(nobs = 60L, n_fits = result$n_fits, status = "ok"))
})

test_that("intervals of other levels come from the saved result, with names of their ends", {
  skip_without_python()
  result <- seeded(x, y, "lda", learn_size = 20, interval = "wald")
  file <- tempfile()
  saveRDS(result, file)
  result <- readRDS(file)
  half <- qt(0.95, 59) * result$stderr
  expect_equal(as.vector(confint(result)), as.vector(result$conf.int))
  expect_equal(confint(result, level = 0.9), unname(result$estimate) + cbind(-half, half), ignore_attr = TRUE)
  expect_equal(colnames(confint(result, level = 0.9)), c("5 %", "95 %"))
  expect_equal(unlist(tidy(result, conf.level = 0.9)[c("conf.low", "conf.high")], use.names = FALSE),
               as.vector(confint(result, level = 0.9)))
  # Degrees of freedom without a statistic are not printed.
  expect_null(c(result$parameter, result$tables$Learners))
  expect_equal(c(result$df, tidy(result)$parameter), c(59, 59))
  expect_false(any(grepl("df = ", capture.output(print(result)), fixed = TRUE)))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  ends <- list(two.sided = c("2.5 %", "97.5 %"), less = c("0 %", "95 %"), greater = c("5 %", "100 %"))
  for (side in names(ends)) {
    found <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20, n_pairs = 400, alternative = side)
    expect_equal(colnames(confint(found)), ends[[side]])
    if (side == "less") expect_equal(colnames(confint(found, level = 0.975)), c("0.0 %", "97.5 %"))
    expect_identical(plot(found), found)
  }
  none <- seeded(x, y, "lda", "nearest_centroid", n_pairs = 10, variance = "midpoint")
  expect_named(none$statistic, "statistic")
  expect_match(none$status, "raise n_pairs")
  expect_warning(confint(none), "^no confidence interval: ", class = "python_warning")
  shown <- capture.output(print(noninferiority(none, margin = 0.05)))
  expect_match(paste(shown, collapse = " "), "n_pairs")
  expect_false(any(grepl("NaN", shown)))
})

test_that("rows repeat by chance as often as their variables", {
  skip_without_python()
  data <- data.frame(age = rep(20:39, 10), weight = rep(50:74, 8), ill = gl(2, 1, 200))
  for (terms in list(ill ~ age * weight, ill ~ poly(age, 2) + weight)) expect_no_warning(hold_out_test(terms, data, "lda"))
  data$marker <- sin((1:200)^2)
  expect_warning(hold_out_test(ill ~ age * weight + marker, rbind(data, data), "lda"),
                 "200 pairs of identical rows")
})

test_that("columns that name patients, or determine the response, are named where results are printed", {
  skip_without_python()
  data <- data.frame(id = rep(sprintf("P%02d", 1:10), each = 4), age = sin(1:40), code = rep(c(3, 7), 20),
                     ill = factor(rep(rep(c("no", "yes"), 5), each = 4)), well = gl(2, 1, 40))
  note <- function(...) any(grepl("'id' of x is text that repeats.*groups", hold_out_test(...)$notes))
  expect_true(note(ill ~ id + age, data, "lda"))
  expect_true(note(ill ~ factor(id) + age, data, "lda"))
  expect_false(note(ill ~ id + age, data, "lda", groups = id))
  expect_false(note(ill ~ age, data, "lda"))
  shown <- function(...) paste(capture.output(print(hold_out_test(...))), collapse = " ")
  expect_match(shown(well ~ age + code, data, "knn:3"), "Column 'code' of x determines")
  unnamed <- unname(as.matrix(data[c("age", "code")]))
  expect_match(shown(unnamed, data$well, "knn:3"), "Column 2 of x determines")
  expect_no_match(shown(well ~ age, data, "knn:3"), "determines")
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
  expect_equal(c(mark_of("line", 1), mark_of("broken", 1), mark_of("line", c(1, 2))),
               c("points", "points", "line"))
})

test_that("pictures that came as data are drawn", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  result <- with_pictures()
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
  expect_refused(
    noninferiority(result, 0) ~ "margin must be above 0",
    equivalence(1, 0, 1) ~ "'result' must be the result of one of this package's tests")
})
