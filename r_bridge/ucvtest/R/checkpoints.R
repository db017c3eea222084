# What a learner does, as text: a checkpoint takes predictions back from the same learner alone.

written_out <- function(learner) {
  if (inherits(learner, "ucvtest_r_learner"))
    return(paste(c(written_out(learner$f), deparse(learner$arguments, control = "digits17")),
                 collapse = "\n"))
  if (is.function(learner)) return(code_of(learner))
  # Specifications of other packages say their parameters when they are printed.
  paste(utils::capture.output(print(learner)), collapse = "\n")
}

# The code of a function and of the functions that it reads, as far as users write them: those of
# packages are known by their names. Values that it encloses count, but no data.
code_of <- function(f) {
  seen <- list()
  text <- character()
  add <- function(f) {
    if (any(vapply(seen, identical, NA, f))) return(invisible())
    seen[[length(seen) + 1L]] <<- f
    text <<- c(text, deparse(f, control = "digits17"))
    if (is.primitive(f) || of_package(environment(f))) return(invisible())
    # What a function writes counts something, and says nothing of what it does.
    for (name in setdiff(sort(unique(read_by(body(f)))), written_by(body(f)))) {
      value <- get0(name, environment(f), inherits = TRUE)
      if (is.function(value)) {
        if (!is.primitive(value) && !of_package(environment(value))) add(value)
      } else if (is.atomic(value) && length(value) <= 100L && !is.null(value)) {
        text <<- c(text, name, deparse(value, control = "digits17"))
      }
    }
  }
  add(f)
  paste(text, collapse = "\n")
}

# Names that a function reads; what follows "$" or "@" is a part of something, and no variable.
read_by <- function(code) {
  if (is.symbol(code)) return(as.character(code))
  if (!is.call(code)) return(character())
  part <- is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% c("$", "@")
  parts <- as.list(code)
  if (part) parts <- parts[2L]
  unlist(lapply(Filter(Negate(is_missing_argument), parts), read_by))
}

# As in x[1, ].
is_missing_argument <- function(part) is.symbol(part) && !nzchar(as.character(part))

# Variables outside of a function that it writes, by "<<-".
written_by <- function(code) {
  if (!is.call(code)) return(character())
  here <- if (identical(code[[1L]], as.name("<<-"))) all.vars(code[[2L]])
  c(here, unlist(lapply(as.list(code)[-1L], written_by)))
}

# No learner encloses values of this package but those of its own tests, which testthat evaluates
# inside a copy of it.
of_package <- function(environment) {
  top <- topenv(environment)
  isNamespace(environment) || isNamespace(top) && getNamespaceName(top) != "ucvtest"
}
