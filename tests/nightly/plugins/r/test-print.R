# Pictures of ggplot2.
source("../../../../r_bridge/ucvtest/tests/testthat/helper.R", local = TRUE)
flowers <- droplevels(subset(iris, Species != "setosa"))[c("Sepal.Length", "Sepal.Width", "Species")]

shown <- function(expr, seed = 1) {
  set.seed(seed)
  force(expr)
}

test_that("plans, selections and pictures of results are drawn by ggplot2", {
  skip_if_not_installed("ggplot2")
  skip_without_python()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  chosen <- shown(select_model(mpg ~ wt + hp, mtcars, c("ridge:100", "ridge:1")))
  planned <- shown(plan_sample_size(Species ~ ., flowers, "lda", "knn:1", difference = 0.1))
  chance <- shown(leave_pair_out_test(Species ~ ., flowers[c(1:8, 51:58), ], "lda", n_permutations = 99))
  drawn <- c(list(ggplot2::autoplot(chosen), ggplot2::autoplot(chance)),
             lapply(names(planned$pictures), function(kind) ggplot2::autoplot(planned, kind)))
  for (each in drawn) expect_silent(print(each))
  expect_equal(drawn[[1]]$labels$x, "effective degrees of freedom")
  expect_equal(drawn[[3]]$labels$y, "power")
  expect_error(ggplot2::autoplot(planned, "none"), "'kind' must be one of")
  # Without degrees of freedom learners stand side by side, by their names.
  by_name <- shown(select_model(Species ~ ., flowers, c("lda", "knn:1"), n_permutations = 10))
  axis <- ggplot2::ggplot_build(ggplot2::autoplot(by_name))$layout$panel_params[[1]]$x
  expect_equal(axis$get_labels(), c("lda", "knn:1"))
  expect_output(print(by_name), "learner +e_in +permutation")
})
