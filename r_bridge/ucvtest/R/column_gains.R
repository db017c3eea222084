# What predictions lose without columns, or gain by them; printed as drop1() and add1() print theirs.

column_gains <- function(x, ...) UseMethod("column_gains")

column_gains.default <- function(x, y, learner, blocks = NULL, base = NULL, copies = 0,
                                 fits = NULL, learn_size = NULL, loss = NULL, scoring = NULL,
                                 alternative = c("two.sided", "less", "greater"),
                                 conf.level = 0.95, positive = NULL, groups = NULL,
                                 group_weight = c("group", "row"), weights = NULL, n_jobs = 1,
                                 pos_label = NULL, metric = NULL, ...) {
  refuse_unknown(...)
  refuse_lacking(y = the_response, learner = "name one, such as \"lda\"")
  if (!is_text(learner))
    stop_user("'learner' must be the name of a learner that sees columns of a matrix, such as ",
              "\"lda\" or \"lasso:0.08\", got ", describe(learner))
  if (!is.null(weights)) stop_user("'weights' cannot be used for gains of columns: leave it out")
  if (is.data.frame(x) && is_text(groups) && groups %in% names(x)) {
    labels <- x[[groups]]
    x <- x[setdiff(names(x), groups)]
    groups <- labels
  }
  source <- attr(x, "source")
  x <- feature_matrix(x)
  if (is.null(colnames(x))) colnames(x) <- paste0("x", seq_len(ncol(x)))
  attr(x, "source") <- source
  term <- or_else(attr(x, "term"), colnames(x))
  # A factor is the block of its dummy variables.
  columns_of <- function(names, argument) {
    unknown <- setdiff(names, c(term, colnames(x)))
    if (length(unknown))
      stop_user("'", argument, "' names \"", unknown[1L], "\", which is no column: use ",
                quoted(unique(term)))
    colnames(x)[term %in% names | colnames(x) %in% names]
  }
  base <- if (!is.null(base)) columns_of(base, "base")
  if (is.null(blocks)) blocks <- setdiff(term, term[colnames(x) %in% base])
  if (is.null(names(blocks)))
    names(blocks) <- vapply(blocks, function(names) paste(names, collapse = " + "), "")
  twice <- names(blocks)[duplicated(names(blocks))]
  if (length(twice)) stop_user("'blocks' has several called '", twice[1L], "': name them")
  blocks <- lapply(blocks, columns_of, argument = "blocks")
  fields <- without(ask_of_data("columns"), "labels")
  fields$table <- as.data.frame(fields$table)
  structure(fields, class = "ucvtest_gains")
}

column_gains.formula <- formula_method(column_gains.default)

print.ucvtest_gains <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  table <- x$table
  tails <- format(50 * c(1 - x$conf_level, 1 + x$conf_level), trim = TRUE)
  shown <- cbind(table$columns, table$gain, table$conf_low, table$conf_high,
                 table$pvalue_copies, table$pvalue_adjusted)
  copies <- if (!is.null(table$pvalue_copies)) "copies"
  dimnames(shown) <- list(table$block, c("Df", "Gain", paste(tails, "%"), copies, "Pr(>|t|)"))
  cat("\n\tGains of columns\n\ndata:  ", x$data.name, "\ngain:  ", x$gain, "\n\n", sep = "")
  stats::printCoefmat(shown, digits, cs.ind = 2:4, tst.ind = integer(), has.Pvalue = TRUE,
                      P.values = TRUE, na.print = "", ...)
  cat("\n", paste(strwrap(c(x$verdict, x$notes), exdent = 2), collapse = "\n"), "\n\n",
      sep = "")
  invisible(x)
}
