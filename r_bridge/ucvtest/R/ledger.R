# A gate that may be asked often on the same rows. Its functions are the methods of Python's Ledger.

gate_ledger <- function(path) {
  refuse_lacking(path = "the file of the ledger, such as \"gate.jsonl\"")
  if (!is_text(path)) stop_user("'path' must be the name of a file, got ", describe(path))
  path <- normalizePath(path, mustWork = FALSE)
  tell <- function(action, losses = NULL, ...) {
    if (!is.null(losses) && !inherits(losses, "ucvtest_losses"))
      stop_user("'losses' must be made by prediction_losses() or correct_losses(), got ",
                describe(losses))
    given <- Filter(Negate(is.null), list(losses = losses$json, ...))
    for (name in intersect(names(given), c("candidate", "baseline")))
      given[[name]] <- by_place(given[[name]], name, length(losses$learners))
    call_python("ledger", path = path, action = action, .more = given)
  }
  state <- function(...) structure(tell(...), class = "ucvtest_ledger_state")
  structure(class = "ucvtest_ledger", list(
    path = path,
    open = function(losses, baseline = NULL, alpha = 0.05, stake = 0.05)
      state("open", losses, baseline = baseline, alpha = alpha, stake = stake),
    ask = function(losses, candidate = 1, baseline = NULL, margin = 0, stake = NULL)
      state("ask", losses, candidate = candidate, baseline = baseline, margin = margin,
            stake = stake),
    show = function(difference = NULL, discordant = NULL)
      state("show", difference = difference, discordant = discordant),
    close = function(losses) as.data.frame(tell("close", losses))))
}

print.ucvtest_ledger <- function(x, ...) {
  cat("\n\tA gate that may be asked often\n\nfile:  ", x$path,
      "\nfunctions:  open, ask, show, close\n\n", sep = "")
  invisible(x)
}

print.ucvtest_ledger_state <- function(x, ...) {
  cat(strwrap(x$verdict), "", sep = "\n")
  invisible(x)
}
