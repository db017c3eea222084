# Formulas and what comes with them: rows, columns, groups.

run_formula <- function(default, formula, data, written, subset, groups, weights,
                        na.action, ...) {
  if (length(formula) != 3L)
    stop_user("'formula' must have a response: write  response ~ terms")
  refuse_bars(formula[[3L]])
  refuse_imputed(data, "data")
  written_formula <- formula
  kept <- without_removed(formula, data)
  formula <- without_smooths(kept)
  where <- if (is.null(written)) "formula" else "data"
  group <- group_in_data(groups, data, formula)
  # The patient's number is no feature of the patient.
  if (is.data.frame(data)) {
    unused <- setdiff(group$columns, all.vars(formula))
    data <- data[setdiff(names(data), unused)]
  }
  if (is.data.frame(data)) {
    used <- all.vars(terms(formula, data = data))
    used <- data[intersect(names(data), used)]
    refuse_lists(used, where)
    # Times that are lists inside, and what base R makes no table of.
    refuse_other_units(Filter(function(column) is.list(column) || inherits(column, "haven_labelled"),
                              used), where)
  }
  rows <- from_data(subset, data, formula)
  # As subset() has it: what is unknown is left out.
  if (is.logical(rows)) rows <- rows & !is.na(rows)
  if (!is.null(rows) && !(if (is.logical(rows)) any(rows) else length(rows)))
    stop_user("subset leaves no rows")
  arguments <- list(formula, data = data, subset = rows,
                    na.action = na.action, drop.unused.levels = TRUE)
  if (!is.null(group$values)) arguments$groups <- group$values
  arguments$weights <- from_data(weights, data, formula)
  variables <- stats::get_all_vars(formula, data)
  arguments$ucvtest_row <- seq_len(nrow(variables))
  frame <- do.call(model.frame, arguments)
  if (!is.null(model.offset(frame)))
    stop_user("'formula' has an offset, which learners cannot use")
  terms <- terms(frame)
  features <- frame[setdiff(names(frame), c(names(frame)[attr(terms, "response")],
                                         "(groups)", "(weights)", "(ucvtest_row)"))]
  refuse_other_units(features, where)
  x <- design_matrix(terms, frame)
  name <- paste(c(deparse1(written_formula), if (!is.null(written)) c("in", deparse1(written))),
                collapse = " ")
  # Terms such as poly(age, 2) are several columns each, which only a matrix has.
  single <- all(attr(terms, "order") == 1L) &&
    all(vapply(features, function(column) is.null(dim(column)), NA))
  # A learner that takes a formula gets the variables as they are in the data, factors included.
  response <- if (is.symbol(formula[[2L]])) as.character(formula[[2L]]) else ".response"
  full <- stats::formula(terms)
  full[[2L]] <- as.name(response)
  attr(x, "source") <- list(
    name = name, where = where, columns = features, single = single,
    response = response, formula = full,
    # For a learner with a formula of its own.
    written_response = formula[[2L]], given = data, rows = frame[["(ucvtest_row)"]],
    # With the response as a column, as `full` has it.
    smooths = if (!identical(formula, kept)) {
      kept[[2L]] <- full[[2L]]
      kept
    },
    as_factor = paste(written_as_factor(formula[[2L]]), "~", deparse1(written_formula[[3L]])),
    data = droplevels(variables[frame[["(ucvtest_row)"]], , drop = FALSE]))
  attr(x, "source")$variables <- variables_behind(terms, attr(x, "source")$data)
  default(x, model.response(frame), groups = frame[["(groups)"]],
          weights = frame[["(weights)"]], ...)
}

# What mixed models take for groups, base R takes for a logical "or" of the two.
refuse_bars <- function(term) {
  if (!is.call(term)) return(invisible())
  operator <- deparse1(term[[1L]])
  if (operator %in% c("|", "||"))
    stop_user("'", operator, "' in a formula, as in ", deparse1(term), ", is for mixed models: ",
              "give groups = ", deparse1(term[[3L]]), " for rows that belong together, or ",
              "I(a | b) for a logical 'or'")
  # Inside of functions, such as I(), it is an "or".
  if (operator %in% c("+", "-", "*", ":", "/", "^", "(", "%in%"))
    lapply(as.list(term)[-1L], refuse_bars)
  invisible()
}

# The variables on the right-hand side. Matrices have another name for each column: NULL.
variables_behind <- function(terms, data) {
  used <- all.vars(stats::delete.response(terms))
  if (all(used %in% names(data))) plain_variables(data[used])
}

# A variable that "-" removes stays in the model frame, where learners of tables would find it: the
# terms that are left, written out.
without_removed <- function(formula, data) {
  # As model.frame() takes them.
  if (is.array(data) && !is.object(data)) return(formula)
  if (is.object(data) && !is.environment(data)) data <- as.data.frame(data)
  terms <- terms(formula, data = data)
  factors <- attr(terms, "factors")
  if (!length(factors) || !is.null(attr(terms, "offset"))) return(formula)
  in_terms <- rowSums(factors != 0L) > 0
  in_terms[attr(terms, "response")] <- TRUE
  if (all(in_terms)) return(formula)
  stats::reformulate(attr(terms, "term.labels"), formula[[2L]],
                     intercept = attr(terms, "intercept") == 1L, env = environment(formula))
}

# Terms such as s(age) are instructions for mgcv::gam(): others get the variables in them.
smooth_terms <- c("s", "te", "ti", "t2")

without_smooths <- function(formula) {
  without <- function(term) {
    if (!is.call(term)) return(term)
    if (!is_smooth(term[[1L]], environment(formula))) {
      term[-1L] <- lapply(as.list(term)[-1L], without)
      return(term)
    }
    parts <- as.list(term)[-1L]
    named <- nzchar(or_else(names(parts), character(length(parts))))
    variables <- c(parts[!named], parts[["by"]])
    Reduce(function(left, right) call("+", left, right), unname(variables))
  }
  formula[[3L]] <- without(formula[[3L]])
  formula
}

is_smooth <- function(name, where) {
  if (!is.symbol(name) || !as.character(name) %in% smooth_terms) return(FALSE)
  # A user may have a function of that name.
  found <- get0(as.character(name), where, mode = "function")
  is.null(found) || environmentName(topenv(environment(found))) == "mgcv"
}

# An argument that may be about columns of the data: what was written, and its value without them.
column_argument <- function(written, value)
  list(written = written, value = function() value)

from_data <- function(argument, data, formula) {
  if (is.null(argument)) return(NULL)
  of_columns <- any(all.vars(argument$written) %in% names(data))
  if (of_columns) eval(argument$written, data, environment(formula)) else argument$value()
}

# The group of each row: a column by its name, ~ column, or anything that can be computed from the
# columns; and the columns it came from.
group_in_data <- function(argument, data, formula) {
  found <- from_data(argument, data, formula)
  columns <- all.vars(argument$written)
  if (inherits(found, "formula")) {
    columns <- all.vars(found)
    if (length(columns) != 1L)
      stop_user("'groups' must name one column, got ", deparse1(found))
    found <- columns
  }
  if (is.character(found) && length(found) == 1L && is.data.frame(data)) {
    columns <- found
    if (!found %in% names(data))
      stop_user("'groups' is \"", found, "\", and 'data' has no such column")
    found <- data[[found]]
  }
  list(values = found, columns = intersect(columns, names(data)))
}
