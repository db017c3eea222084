# A virtual environment with the Python side, where ucvtest finds it by itself.

install_python <- function(path = file.path(tools::R_user_dir("ucvtest", "data"), "python"),
                           python = NULL, packages = "ucvtest[r]", pip_options = character()) {
  python <- newest_python(python)
  # A wheel by its path says nothing of what R needs besides.
  wheels <- grepl("\\.whl$", packages)
  packages[wheels] <- paste0(normalizePath(packages[wheels], mustWork = TRUE), "[r]")
  path <- path.expand(path)
  environment_python <- file.path(path, "bin", "python")
  if (!file.exists(environment_python)) {
    dir.create(dirname(path), recursive = TRUE, showWarnings = FALSE)
    run_python(python, c("-m", "venv", path), paste0(
      "a virtual environment could not be made in '", path,
      "' (on Debian, the package python3-venv is needed)"))
  }
  run_python(environment_python, c("-m", "pip", "install", pip_options, packages),
             "the packages could not be installed")
  found <- probe_python(environment_python)
  if (!is.null(found$problem)) stop_user("'", environment_python, "' ", found$problem)
  if (path != environment_folder())
    message("To use it: options(ucvtest.python = \"", environment_python, "\")")
  if (!is.null(.session$call)) message("Restart R: Python runs in this session already.")
  invisible(environment_python)
}

environment_folder <- function() file.path(tools::R_user_dir("ucvtest", "data"), "python")

# The first Python that is new enough and has a shared library.
newest_python <- function(python) {
  candidates <- if (is.null(python))
    Sys.which(c("python3.11", "python3.12", "python3.13", "python3", "python")) else python
  candidates <- candidates[nzchar(candidates)]
  for (candidate in candidates) if (!nzchar(unusable_python(candidate))) return(candidate)
  reasons <- vapply(candidates, unusable_python, "")
  stop_user("ucvtest needs Python 3.11 or newer with a shared library:",
            if (length(candidates)) paste0("\n  ", candidates, " ", reasons, collapse = "")
            else "\n  no Python was found",
            "\nName one in install_python(python = ).")
}

unusable_python <- function(python) {
  found <- probe_python(python)
  if (is.null(found$library)) return(found$problem)
  if (!nzchar(found$library)) return("has no shared library")
  old <- numeric_version(found$version) < "3.11"
  if (old) paste("is Python", found$version) else ""
}

# What goes wrong is on the screen already: Python writes it there.
run_python <- function(python, arguments, failure) {
  status <- system2("env", c("-u", "LD_LIBRARY_PATH", shQuote(python), shQuote(arguments)))
  if (status != 0L) stop_user(failure, ": see the messages above")
}
