# Finds a Python, starts it inside this R process, and calls the functions of ucvtest_r.

# What this session knows of Python: `call`, the dispatcher that the Python side puts here.
.session <- new.env(parent = emptyenv())

# The Python that UCVTEST_PYTHON named while the package was installed: evaluated then and
# stored with the code. A relative path counts from the working directory of the installation
# or a folder above it (R CMD INSTALL changes into the package's source).
.installed_python <- local({
  path <- Sys.getenv("UCVTEST_PYTHON")
  if (nzchar(path) && !startsWith(path, "/")) {
    folder <- getwd()
    while (!file.exists(file.path(folder, path)) && dirname(folder) != folder)
      folder <- dirname(folder)
    path <- file.path(folder, path)
  }
  if (file.exists(path)) path else ""
})

# Pythons in the order in which they are tried. One that was named for ucvtest is the only one.
python_candidates <- function() {
  for (path in c(getOption("ucvtest.python"), Sys.getenv("UCVTEST_PYTHON")))
    if (nzchar(path)) return(path)
  environment <- Sys.getenv("VIRTUAL_ENV")
  paths <- c(Sys.getenv("RETICULATE_PYTHON"),
             if (nzchar(environment)) file.path(environment, "bin", "python"),
             python_beside(), Sys.which("python3"), Sys.which("python"), .installed_python,
             file.path(environment_folder(), "bin", "python"))
  unique(unname(paths[file.exists(paths)]))
}

# The Python of the virtual environment in which this package lies, as .venv/lib/R/ucvtest: found
# where the package is, so that clones and libraries do not share one.
python_beside <- function()
  file.path(dirname(dirname(dirname(system.file(package = "ucvtest")))), "bin", "python")

# What an interpreter says of itself. R puts folders of its own into LD_LIBRARY_PATH, and a
# Python that was started with those may load the library of another Python.
probe_python <- function(path) {
  if (!file.exists(path)) return(list(problem = "does not exist"))
  script <- system.file("python", "probe.py", package = "ucvtest", mustWork = TRUE)
  lines <- suppressWarnings(system2(
    "env", c("-u", "LD_LIBRARY_PATH", shQuote(path.expand(path)), shQuote(script)),
    stdout = TRUE, stderr = FALSE))
  status <- attr(lines, "status")
  if (!is.null(status) || length(lines) < 3L)
    return(list(problem = "does not run"))
  lacks <- if (length(lines) > 3L) lines[4L] else ""
  list(library = lines[1L], executable = lines[2L], version = lines[3L],
       problem = python_problem(path, lines[1L], lacks))
}

python_problem <- function(path, library, lacks) {
  if (nzchar(lacks))
    return(sprintf(
      "is missing %s: run  %s -m pip install 'ucvtest[r]'  or  ucvtest::install_python()  in R",
      gsub(" ", ", ", lacks), shQuote(path)))
  if (!nzchar(library))
    return("has no shared library: use a Python built with --enable-shared, or one of conda")
  NULL
}

find_python <- function() {
  candidates <- python_candidates()
  problems <- character()
  for (path in candidates) {
    found <- probe_python(path)
    if (is.null(found$problem)) return(found)
    problems <- c(problems, sprintf("\n  %s %s", path, found$problem))
  }
  if (length(candidates) == 0L) problems <- "\n  no Python was found"
  stop(python_missing(paste0(
    "ucvtest needs a Python with the package 'ucvtest[r]':", paste(problems, collapse = ""),
    "\nName the Python to use in options(ucvtest.python = ) or the environment variable ",
    "UCVTEST_PYTHON.")))
}

python_missing <- function(message)
  errorCondition(message, class = "ucvtest_python_missing", call = user_call())

# Python that attaches ucvtest_r to this R; the reason of a failure comes back in a file.
attach_code <- function(report) {
  sprintf("
try:
    from ucvtest_r.session import attach
    attach(%d)
except BaseException as error:
    with open(%s, 'w', encoding='utf-8') as report:
        report.write(f'{type(error).__name__}: {error}')
    raise SystemError('ucvtest_r did not start') from error
", Sys.getpid(), encodeString(report, quote = "'"))
}

# Older reticulates and rpy2 free one another's values, which ends the process.
refuse_old_reticulate <- function() {
  if (!isNamespaceLoaded("reticulate")) return(invisible())
  version <- getNamespaceVersion("reticulate")
  if (numeric_version(version) >= "1.31") return(invisible())
  stop(errorCondition(class = "ucvtest_reticulate", call = user_call(), paste0(
    "reticulate ", version, " is loaded, and before version 1.31 it cannot share a session with ",
    "ucvtest: update reticulate, or restart R and do not load it")))
}

start_python <- function() {
  if (!is.null(.session$call)) return(invisible())
  .session$announce <- guarded(announce)
  .session$progress <- NULL
  refuse_old_reticulate()
  python <- find_python()
  report <- tempfile("ucvtest")
  on.exit(unlink(report))
  .Call(C_start_python, python$library, python$executable, attach_code(report))
  if (is.null(.session$call)) {
    reason <- if (file.exists(report)) readLines(report, warn = FALSE, encoding = "UTF-8")
    stop(python_missing(paste0(
      "ucvtest did not start in ", python$executable, ":\n  ",
      paste(reason, collapse = "\n  "))))
  }
  # Worker processes that Python has started keep R from ending unless Python says goodbye.
  reg.finalizer(.session, function(session) session$call("shutdown", list()), onexit = TRUE)
  invisible()
}

# Call a function of Python by name, with arguments by its names. Warnings and errors of Python become R's; those of R
# functions that Python has called come back as they were.
call_python <- function(.function, ..., .more = NULL) {
  arguments <- c(list(...), .more)  # refuses bad arguments before Python starts
  start_python()
  outer <- mget(c("warnings", "quiet", "progress"), .session, ifnotfound = list(NULL))
  on.exit(list2env(outer, .session))
  .session$warnings <- list()
  .session$quiet <- is_quiet()
  .session$progress <- progress_teller()
  outcome <- dispatch(.function, arguments)
  call <- user_call()
  for (text in outcome$announced) signal_announced(text, call)
  for (condition in .session$warnings) warning(condition)
  for (text in outcome$warnings)
    warning(warningCondition(text, class = "python_warning", call = call))
  if (outcome$kind == "python_error" && outcome$value$type == "ForkedProcessError")
    outcome$value$message <- forked_process
  if (outcome$kind == "python_error")
    outcome$value$message <- with_nearest_learner(outcome$value$message)
  switch(outcome$kind,
    value = outcome$value,
    r_error = stop(in_learner(outcome$value)),
    python_error = stop(errorCondition(
      outcome$value$message, call = call,
      class = c(paste0("python_", outcome$value$type), "python_error"))),
    interrupt = interrupt())
}

# What takes long is told while it does, by a call from inside of Python, which hides the handlers
# around it: so suppressMessages() has to be looked for.
announce <- function(text) {
  if (!isTRUE(.session$quiet)) message("ucvtest: ", text)
  NULL
}

is_quiet <- function()
  !is.null(frame_of(suppressMessages)) || !is.null(frame_of(suppressWarnings))

# The number of the innermost frame in which a function runs, NULL if it does not.
frame_of <- function(f) {
  for (frame in rev(seq_len(sys.nframe()))) if (identical(sys.function(frame), f)) return(frame)
  NULL
}

# For handlers, such as those that keep a log; it is printed already.
signal_announced <- function(text, call) {
  condition <- structure(class = c("ucvtest_slow_fits", "message", "condition"),
                         list(message = paste0("ucvtest: ", text, "\n"), call = call))
  withRestarts(signalCondition(condition), muffleMessage = function() NULL)
}

# The condition of an R function, of its own class, with the learner and the split in front, and
# where several tests are run the test as well.
in_learner <- function(outcome) {
  condition <- outcome$condition
  if (grepl("(^|: )learner .* failed on split [0-9]+: ", outcome$message)) {
    condition$parent <- outcome$condition
    condition$message <- outcome$message
  }
  condition
}

forked_process <- paste(
  "this process was forked, as by mclapply(), after ucvtest had computed something, and would wait",
  "forever: use a PSOCK cluster, parallel::makePSOCKcluster(), or call ucvtest in forks only")

dispatch <- function(name, arguments) {
  .Call(C_enter_python)
  on.exit(.Call(C_leave_python))
  outcome <- .session$call(name, arguments)
  # An interrupt in the last instant, after Python's own handlers, leaves nothing behind.
  if (is.null(outcome)) list(kind = "interrupt") else outcome
}

interrupt <- function() {
  .Call(C_interrupt_r)
  stop("interrupted", call. = FALSE)  # only where R ignores interrupts
}

# The call that the user made, for error messages: the innermost one of an exported function.
user_call <- function() {
  package <- topenv()
  exported <- mget(getNamespaceExports(package), package, inherits = TRUE)
  for (frame in rev(seq_len(sys.nframe())))
    for (f in exported) if (identical(sys.function(frame), f)) return(sys.call(frame))
  NULL
}

# TRUE where a Python with everything is found and starts; never an error. FALSE comes with its reason.
ucvtest_available <- function() {
  problem <- tryCatch({
    start_python()
    NULL
  }, error = conditionMessage)
  if (is.null(problem)) TRUE else structure(FALSE, reason = problem)
}
