# Automatic logging to MLflow.

autolog <- function(disable = FALSE, log_plots = TRUE, log_datasets = TRUE, log_tables = TRUE,
                    nested = FALSE, spool_dir = NULL, silent = FALSE) {
  if (!is.null(spool_dir)) spool_dir <- normalizePath(spool_dir, mustWork = FALSE)
  # Python read the environment when it started.
  environment <- as.list(Sys.getenv())
  mlflow <- environment[startsWith(names(environment), "MLFLOW_")]
  call_python("autolog", environment = mlflow, disable = disable, log_plots = log_plots,
              log_datasets = log_datasets, log_tables = log_tables, nested = nested,
              spool_dir = spool_dir, silent = silent)
  invisible()
}
