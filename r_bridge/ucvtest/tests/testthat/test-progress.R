test_that("handlers of progressr show progress where they are set", {
  skip_without_python()
  seen <- character()
  note <- function(what) function(config, state, progression, ...) seen <<- c(seen, what)
  recording <- progressr::make_progression_handler("recording", enable = TRUE, intrusiveness = 0,
    reporter = list(initiate = note("initiate"), finish = note("finish"),
                    update = function(config, state, progression, ...) seen <<- c(seen, state$step)))
  run <- function() corrected_t_test(x, y, "lda", lda_in_r, design = 5)
  progressr::with_progress(run(), handlers = recording)
  expect_equal(c(seen[1L], utils::tail(seen, 2L)), c("initiate", "100", "finish"))
  seen <- character()
  run()
  expect_equal(seen, character())
  # Nothing is shown where it is switched off, as progressr has it.
  with <- function(...) progressr::with_progress(..., handlers = recording)
  disabled <- progressr::make_progression_handler("disabled", enable = FALSE, intrusiveness = 0,
                                                  reporter = list(initiate = note("disabled")))
  with(progressr::without_progress(run()))
  with(run(), enable = FALSE)
  progressr::with_progress(run(), handlers = disabled)
  expect_equal(seen, character())
  progressr::without_progress(with(run()))
  expect_equal(seen[1L], "initiate")
  seen <- character()
  with(progressr::with_progress(run(), enable = FALSE))
  expect_equal(seen[1L], "initiate")
  # What a handler cannot do is no matter of the test.
  failing <- progressr::make_progression_handler("failing", enable = TRUE, intrusiveness = 0,
    reporter = list(initiate = function(...) stop("no room")))
  set.seed(1)
  plain <- numbers(run())
  set.seed(1)
  expect_equal(numbers(progressr::with_progress(run(), handlers = failing)), plain)
})
