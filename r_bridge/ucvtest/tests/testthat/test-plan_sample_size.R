two <- droplevels(subset(iris, Species != "setosa"))[c(1:20, 51:70), c(1, 2, 5)]

test_that("a plan says how many observations, and draws it", {
  skip_without_python()
  set.seed(1)
  plan <- plan_sample_size(Species ~ ., two, "lda", "knn:1", difference = 0.1, n = c(100, 200))
  expect_equal(plan$table$n, c(100, 200))
  expect_gt(plan$n_high, plan$n_low)
  expect_equal(plan$data.name, "Species ~ . in two")
  expect_true(any(plan$curve$extrapolated))
  expect_match(capture.output(print(plan)), "observations give 80% power", all = FALSE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (kind in c("power", "width", "curve")) expect_identical(plot(plan, kind), plan)
})

test_that("what cannot be planned is refused", {
  skip_without_python()
  rule <- prediction_losses(two$Species, list(a = rev(two$Species), b = two$Species))
  expect_refused(
    plan_sample_size(two[1:2], two$Species, "lda", "knn:1") ~ "one of difference, ratio and width must be given",
    plan_sample_size(rule) ~ "one of 'difference' and 'width' must be given, and none is",
    plan_sample_size(rule, width = 0.1, asks = 5) ~ "asks and promotions plan a ledger",
    plan_sample_size(two[1:2], two$Species) ~ "'learner' is missing")
})
