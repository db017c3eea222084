test_that("results can be taken apart", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", learn_size = 20)
  row <- as.data.frame(result)
  expect_equal(nrow(row), 1L)
  expect_equal(c(row$conf.low, row$conf.high), as.vector(result$conf.int))
  expect_equal(c(row$learner, row$other), c("lda", "nearest_centroid"))
  expect_named(tidy(result), c("estimate", "std.error", "statistic", "p.value", "parameter",
                               "conf.low", "conf.high", "method", "alternative"))
  expect_equal(glance(result)[c("nobs", "n_fits", "status")],
               data.frame(nobs = 60L, n_fits = result$n_fits, status = "ok"))
})

test_that("intervals of other levels come from the saved result", {
  skip_without_python()
  result <- seeded(x, y, "lda", learn_size = 20)
  file <- tempfile()
  saveRDS(result, file)
  result <- readRDS(file)
  expect_equal(as.vector(confint(result)), as.vector(result$conf.int))
  expect_equal(colnames(confint(result)), c("2.5 %", "97.5 %"))
  half <- qt(0.95, 59) * result$stderr
  expect_equal(as.vector(confint(result, level = 0.9)),
               unname(result$estimate) + c(-half, half))
})

test_that("the summary is that of Python", {
  skip_without_python()
  shown <- capture.output(print(summary(seeded(x, y, "lda", learn_size = 20))))
  expect_match(shown, "learning-set size 20", fixed = TRUE, all = FALSE)
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

test_that("a statistic without a reference distribution is neither t nor z", {
  skip_without_python()
  result <- seeded(x, y, "lda", "nearest_centroid", n_pairs = 10)
  expect_equal(result$reference, "none")
  expect_named(result$statistic, "statistic")
})

test_that("a status that is not ok is printed", {
  result <- structure(class = c("ucvtest", "htest"), list(
    method = "m", data.name = "d", p.value = NaN, status = "raise n_pairs"))
  expect_match(paste(capture.output(print(result)), collapse = "\n"), "status: raise n_pairs",
               fixed = TRUE)
})
