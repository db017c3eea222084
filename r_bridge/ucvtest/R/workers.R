# Processes of R that share out the fits of learners that are R functions.

# Runs `expression` while workers stand ready: processes of this call, a cluster of the user's own, or
# the plan of package future.
with_workers <- function(n_jobs, expression) {
  # One of future's plans is called a cluster too.
  if (is_future_plan(n_jobs)) workers <- future_workers()
  else if (inherits(n_jobs, "cluster")) workers <- cluster_workers(n_jobs)
  else {
    if (!is.numeric(n_jobs) || length(n_jobs) != 1L || is.na(n_jobs) || n_jobs < 1)
      stop_user("'n_jobs' must be a whole number, 1 or more, a cluster of parallel::makeCluster(), or ",
                "future::plan(), got ",
                if (is.atomic(n_jobs)) deparse1(n_jobs) else describe(n_jobs))
    if (n_jobs == 1) return(expression)
    cluster <- parallel::makePSOCKcluster(n_jobs)
    on.exit(parallel::stopCluster(cluster))
    workers <- cluster_workers(cluster)
  }
  before <- .session$workers
  on.exit(.session$workers <- before, add = TRUE)
  .session$workers <- workers
  expression
}

# What future::plan() returns is a function that makes futures.
is_future_plan <- function(value)
  is.function(value) && inherits(value, c("FutureStrategy", "future"))

# Workers are two functions: `run` applies a function to each element of a list, and `share` hands over
# global variables by name.
cluster_workers <- function(cluster) {
  set_up <- function(paths, packages, options) {
    .libPaths(paths)
    options(options)
    loadNamespace("ucvtest")
    for (package in packages) suppressWarnings(suppressPackageStartupMessages(
      require(package, character.only = TRUE, quietly = TRUE)))
    NULL
  }
  # With this package's namespace the workers would load it before they know where it is.
  environment(set_up) <- baseenv()
  parallel::clusterCall(cluster, set_up, .libPaths(), attached_packages(), options_of_models())
  list(run = function(values, f) parallel::parLapply(cluster, values, f),
       share = function(globals)
         parallel::clusterExport(cluster, names(globals), list2env(globals, parent = emptyenv())))
}

# Futures start from nothing: they get the globals each time.
future_workers <- function() {
  package <- "future"
  of_future <- function(name) getExportedValue(package, name)
  shared <- list()
  of_part <- quote({
    options(.ucvtest_options)
    lapply(.ucvtest_values, .ucvtest_fit)
  })
  run <- function(values, f) {
    parts <- parallel::splitIndices(length(values), min(of_future("nbrOfWorkers")(), length(values)))
    futures <- lapply(parts, function(part)
      of_future("future")(of_part, substitute = FALSE, seed = NULL, packages = attached_packages(),
                          globals = c(shared, list(.ucvtest_options = options_of_models(),
                                                   .ucvtest_values = values[part], .ucvtest_fit = f))))
    do.call(c, lapply(futures, of_future("value")))
  }
  list(run = run, share = function(globals) shared[names(globals)] <<- globals)
}

# What decides how R's modelling functions read factors and missing values.
options_of_models <- function() options()[c("contrasts", "na.action")]

# In the order in which they were attached.
attached_packages <- function() sub("^package:", "", grep("^package:", rev(search()), value = TRUE))

# Variables of the global environment that a learner, its arguments or a formula reads, by way of the
# functions that users write; and the methods of predict() that are found by their names alone.
globals_of <- function(...) {
  found <- list()
  seen <- list()
  reads <- function(code) for (name in unique(read_by(code))) {
    if (name %in% names(found) || !exists(name, globalenv(), inherits = FALSE)) next
    value <- get(name, globalenv())
    found[name] <<- list(value)
    visit(value)
  }
  visit <- function(value) {
    # Its function may be a name, or code as text.
    if (inherits(value, "ucvtest_r_learner") && is.character(value$f)) reads(as_code(value$f))
    if (inherits(value, "ucvtest_r_learner") || is.list(value) && !is.object(value))
      return(for (part in unclass(value)) visit(part))
    if (inherits(value, "formula")) return(reads(value))
    if (!is.function(value) || is.primitive(value) || of_package(environment(value)) ||
        any(vapply(seen, identical, NA, value))) return(invisible())
    seen[[length(seen) + 1L]] <<- value
    formals <- as.list(formals(value))
    for (default in Filter(Negate(is_missing_argument), formals)) reads(default)
    code <- body(value)
    reads(code)
    # Functions that it encloses, as a function that makes learners leaves them behind.
    enclosed <- environment(value)
    for (name in unique(read_by(code)))
      if (!identical(enclosed, globalenv()) && exists(name, enclosed, inherits = FALSE))
        visit(get(name, enclosed))
  }
  for (each in list(...)) visit(each)
  for (name in ls(globalenv(), pattern = "^predict[.]")) {
    found[name] <- list(get(name, globalenv()))
    visit(found[[name]])
  }
  found
}

as_code <- function(text) tryCatch(str2lang(text), error = function(e) NULL)

# Fits on workers: values, warnings and errors come back as values.
shared_out <- function(one_fit) {
  function(fits) {
    each <- .session$workers$run(fits, kept_conditions(one_fit))
    for (condition in unlist(lapply(each, `[[`, 3L), recursive = FALSE)) warning(condition)
    each
  }
}

kept_conditions <- function(one_fit) {
  force(one_fit)
  function(fit) {
    caught <- list()
    keep <- function(condition) {
      caught[[conditionMessage(condition)]] <<- condition
      tryInvokeRestart("muffleWarning")
    }
    tryCatch(list("value", withCallingHandlers(do.call(one_fit, fit), warning = keep), caught),
             error = function(condition) list("error", condition, caught))
  }
}
