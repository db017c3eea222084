# The same numbers as in Python: its tests read the same file. Roundings differ between processors.
golden <- utils::read.csv(test_path("golden.csv"), colClasses = "character")

two <- droplevels(subset(iris, Species != "setosa"))[c(1:30, 51:80), ]

for (row in seq_len(nrow(golden))) local({
  case <- golden[row, ]
  test_that(paste("golden values:", case$test, case$arguments), {
    skip_without_python()
    arguments <- eval(parse(text = paste0("list(", case$arguments, ")")))
    set.seed(as.integer(case$seed))
    result <- do.call(case$test, c(list(two[1:2], two$Species), arguments))
    interval <- if (is.null(result$conf.int)) c(NaN, NaN) else as.vector(result$conf.int)
    or_nan <- function(value) if (is.null(value)) NaN else unname(value)
    expect_equal(result$settings$rng, as.integer(case$rng))
    expect_equal(
      c(unname(result$estimate), result$stderr, or_nan(result$statistic), or_nan(result$p.value),
        interval),
      as.numeric(unlist(case[c("estimate", "se", "statistic", "pvalue", "conf_low",
                               "conf_high")])),
      tolerance = 1e-8)
  })
})
