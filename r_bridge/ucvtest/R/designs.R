# Resampling designs by name, as Python draws them.

k_fold <- function(n_folds = 10, n_repeats = 1, stratify = NULL)
  new_design("KFold", n_folds = n_folds, n_repeats = n_repeats, stratify = stratify)

random_splits <- function(n_splits = 15, test_fraction = 0.1, stratify = NULL)
  new_design("RandomSplits", n_splits = n_splits, test_fraction = test_fraction,
             stratify = stratify)

hold_out <- function(test_fraction = 1 / 3, stratify = NULL, shuffle = TRUE)
  new_design("HoldOut", test_fraction = test_fraction, stratify = stratify,
             shuffle = if (!isTRUE(shuffle)) shuffle)

split_halves <- function(n_splits = 15, n_bisections = 10, test_fraction = 0.1, stratify = NULL)
  new_design("SplitHalves", n_splits = n_splits, n_bisections = n_bisections,
             test_fraction = test_fraction, stratify = stratify)

nested_k_fold <- function(n_folds = 10, n_repeats = 20, stratify = NULL)
  new_design("NestedKFold", n_folds = n_folds, n_repeats = n_repeats, stratify = stratify)

disjoint_sets <- function(learn_size, n_draws = 500, n_sets = 1) {
  refuse_lacking(learn_size = "the number of observations in a learning set")
  new_design("DisjointSets", learn_size = learn_size, n_draws = n_draws, n_sets = n_sets)
}

new_design <- function(kind, ...)
  structure(Filter(Negate(is.null), list(kind = kind, ...)), class = "ucvtest_design")

print.ucvtest_design <- function(x, ...) {
  if (x$kind == "splits") {
    cat("own folds (", length(or_else(x$testing, x$learning)), " test sets)\n", sep = "")
    return(invisible(x))
  }
  short <- lapply(x, function(value) if (is.double(value)) signif(value, 3L) else value)
  cat(deparse1(call_of_design(short)), "\n", sep = "")
  invisible(x)
}

# A design of this package, a number of folds, splits of rsample, or test sets.
as_design <- function(design, n_obs) {
  if (is.numeric(design) && length(design) == 1L) return(k_fold(design))
  if (inherits(design, "rsplit")) design <- structure(list(splits = list(design)), class = "rset")
  if (inherits(design, "rset")) {
    # Of random splits all others are tested; of rolling origins, for example, some.
    tested <- lapply(design$splits, `[[`, "out_id")
    design <- own_folds(learning = learning_of(design),
                        testing = if (!anyNA(unlist(tested))) tested)
  } else if (is.list(design) && !inherits(design, "ucvtest_design")) {
    if (!length(design) || !all(vapply(design, is.numeric, NA)))
      stop_user("'design' must contain row numbers of test sets where it is a list")
    if (length(design) > 1L && all(lengths(design) > n_obs / 2))
      stop_user("'design' has lists of more than half of the rows, which look like learning sets (as ",
                "caret::createFolds(returnTrain = TRUE) makes them): write own_folds(learning = )")
    design <- own_folds(design)
  }
  if (!inherits(design, "ucvtest_design"))
    stop_user("'design' must be a number of folds, a list of row numbers that are tested, splits ",
              "of rsample, or one of k_fold(), random_splits(), hold_out(), split_halves(), ",
              "nested_k_fold(), disjoint_sets() and own_folds(), got ", describe(design))
  if (design$kind == "splits") {
    refuse_repeated_rows(design$learning)
    rest <- function(sets) lapply(sets, function(rows) setdiff(seq_len(n_obs), rows))
    if (is.null(design$learning)) design$learning <- rest(design$testing)
    if (is.null(design$testing)) design$testing <- rest(design$learning)
  }
  design
}

# Folds of one's own by row numbers; learning or test sets are all other rows unless given.
own_folds <- function(testing = NULL, learning = NULL) {
  sets <- Filter(Negate(is.null), list(testing, learning))
  if (!length(sets) || !all(vapply(sets, is.list, NA)) || length(unique(lengths(sets))) > 1L)
    stop_user("'testing' or 'learning' must be a list of row numbers, one for each resample; both ",
              "of the same length where both are given")
  structure(list(kind = "splits", testing = unname(testing), learning = unname(learning)),
            class = "ucvtest_design")
}
