# Resampling designs by name, as Python draws them.

k_fold <- function(n_folds = 10, n_repeats = 1)
  new_design("KFold", n_folds = n_folds, n_repeats = n_repeats)

random_splits <- function(n_splits = 15, test_fraction = 0.1)
  new_design("RandomSplits", n_splits = n_splits, test_fraction = test_fraction)

hold_out <- function(test_fraction = 1 / 3)
  new_design("HoldOut", test_fraction = test_fraction)

split_halves <- function(n_splits = 15, n_bisections = 10, test_fraction = 0.1)
  new_design("SplitHalves", n_splits = n_splits, n_bisections = n_bisections,
             test_fraction = test_fraction)

nested_k_fold <- function(n_folds = 10, n_repeats = 20)
  new_design("NestedKFold", n_folds = n_folds, n_repeats = n_repeats)

disjoint_sets <- function(learn_size, n_draws = 500, n_sets = 1)
  new_design("DisjointSets", learn_size = learn_size, n_draws = n_draws, n_sets = n_sets)

new_design <- function(kind, ...) structure(list(kind = kind, ...), class = "ucvtest_design")

print.ucvtest_design <- function(x, ...) {
  values <- vapply(unclass(x)[-1L], format, "", digits = 3L)
  cat(x$kind, "(", paste(names(values), values, sep = " = ", collapse = ", "), ")\n", sep = "")
  invisible(x)
}

# A design, or a number of folds.
as_design <- function(design) {
  if (is.numeric(design) && length(design) == 1L) return(k_fold(design))
  if (!inherits(design, "ucvtest_design"))
    stop_user("'design' must be a number of folds, or one of k_fold(), random_splits(), ",
              "hold_out(), split_halves(), nested_k_fold() and disjoint_sets(), got ", describe(design))
  design
}
