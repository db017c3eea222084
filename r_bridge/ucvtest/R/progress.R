# Progress by the handlers of package progressr, where a user has set some.

# Calls from inside of Python hide the handlers around them, so the reporters of these handlers are
# given their conditions here. NULL where there is nothing to show.
progress_teller <- function() {
  reporters <- progress_reporters()
  if (!length(reporters)) return(NULL)
  package <- "progressr"
  progression <- getExportedValue(package, "progression")
  bar <- NULL
  tell <- function(type, ...) {
    bar$index <<- bar$index + 1L
    condition <- progression(type = type, ..., progressor_uuid = bar$id, progression_index = bar$index,
                             owner_session_uuid = bar$id)
    # What is shown may fail, and no test with it.
    for (reporter in reporters) tryCatch(reporter(condition), error = function(e) NULL)
  }
  guarded(function(state, done, total, text) {
    if (state == "begin") {
      bar <<- list(id = paste("ucvtest", Sys.getpid(), format(Sys.time(), "%H:%M:%OS6")), index = -1L,
                   shown = 0)
      tell("initiate", steps = percents, auto_finish = TRUE, message = text)
      return(NULL)
    }
    # How many fits there will be is often known only later, and may change.
    now <- if (state == "end") percents
           else if (total > 0) min(percents - 1, floor(percents * done / total))
           else 0
    amount <- max(0, now - bar$shown)
    bar$shown <<- bar$shown + amount
    tell("update", amount = amount, message = paste0(text, ": ", done, " fits"))
    NULL
  })
}

percents <- 100L

# The handlers of the innermost with_progress() that is not switched off, or the global ones; none
# inside without_progress().
progress_reporters <- function() {
  package <- "progressr"
  if (!isNamespaceLoaded(package)) return(NULL)
  of_package <- function(name) getExportedValue(package, name)
  chosen <- NULL
  surrounded <- FALSE
  for (frame in rev(seq_len(sys.nframe()))) {
    if (identical(sys.function(frame), of_package("without_progress"))) return(NULL)
    if (!identical(sys.function(frame), of_package("with_progress"))) next
    surrounded <- TRUE
    # One that is switched off leaves progress to those around it, but not to the global ones.
    if (isFALSE(get0("enable", sys.frame(frame), inherits = FALSE))) next
    chosen <- get("handlers", sys.frame(frame))
    break
  }
  if (!surrounded && isTRUE(of_package("handlers")(global = NA))) chosen <- of_package("handlers")()
  if (inherits(chosen, "progression_handler") || is.function(chosen)) chosen <- list(chosen)
  lapply(chosen, function(handler)
    if (inherits(handler, "progression_handler")) handler else handler())
}
