test_that("handlers of progressr show progress where they are set", {
  skip_without_python()
  seen <- character()
  note <- function(what) function(config, state, progression, ...) seen <<- c(seen, what)
  handler <- function(enable, ...) progressr::make_progression_handler("recording", enable = enable,
    intrusiveness = 0, reporter = list(...))
  recording <- handler(TRUE, initiate = note("initiate"), finish = note("finish"),
                       update = function(config, state, progression, ...) seen <<- c(seen, state$step))
  run <- function() {
    set.seed(1)
    numbers(corrected_t_test(x, y, "lda", lda_in_r, design = 5))
  }
  with <- function(...) progressr::with_progress(..., handlers = recording)
  plain <- with(run())
  expect_equal(c(seen[1L], utils::tail(seen, 2L)), c("initiate", "100", "finish"))
  seen <- character()
  # Nothing is shown where it is switched off, as progressr has it.
  run()
  with(progressr::without_progress(run()))
  with(run(), enable = FALSE)
  progressr::with_progress(run(), handlers = handler(FALSE, initiate = note("disabled")))
  expect_equal(seen, character())
  progressr::without_progress(with(run()))
  expect_equal(seen[1L], "initiate")
  # What a handler cannot do is no matter of the test.
  failing <- handler(TRUE, initiate = function(...) stop("no room"))
  expect_equal(progressr::with_progress(run(), handlers = failing), plain)
})
