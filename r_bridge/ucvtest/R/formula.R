# Formulas and what comes with them: rows, columns, groups.

run_formula <- function(default, formula, data, written, subset, na.action, groups, ...) {
  if (length(formula) != 3L)
    stop_user("'formula' must have a response: write  response ~ terms")
  where <- if (is.null(written)) "formula" else "data"
  group <- group_in_data(groups, data, formula)
  # The patient's number is no feature of the patient.
  if (is.data.frame(data)) {
    unused <- setdiff(group$columns, all.vars(formula))
    data <- data[setdiff(names(data), unused)]
  }
  arguments <- list(formula, data = data, subset = eval(subset, data, environment(formula)),
                    na.action = na.action, drop.unused.levels = TRUE)
  if (!is.null(group$values)) arguments$groups <- group$values
  frame <- do.call(model.frame, arguments)
  if (!is.null(model.offset(frame)))
    stop_user("'formula' has an offset, which learners cannot use")
  terms <- terms(frame)
  features <- frame[setdiff(names(frame), c(names(frame)[attr(terms, "response")], "(groups)"))]
  refuse_other_units(features, where)
  x <- design_matrix(terms, frame)
  name <- paste(c(deparse1(formula), if (!is.null(written)) c("in", deparse1(written))),
                collapse = " ")
  attr(x, "source") <- list(name = name, where = where, columns = features)
  default(x, model.response(frame), groups = frame[["(groups)"]], ...)
}

# The group of each row: a column by its name, ~ column, or anything that can be computed from the
# columns; and the columns it came from.
group_in_data <- function(expression, data, formula) {
  if (is.null(expression)) return(NULL)
  found <- eval(expression, data, environment(formula))
  columns <- all.vars(expression)
  if (inherits(found, "formula")) {
    columns <- all.vars(found)
    if (length(columns) != 1L)
      stop_user("'groups' must name one column, got ", deparse1(found))
    found <- columns
  }
  if (is.character(found) && length(found) == 1L && is.data.frame(data)) {
    columns <- found
    if (!found %in% names(data)) stop_user("'groups' is \"", found, "\", and 'data' has no such column")
    found <- data[[found]]
  }
  list(values = found, columns = intersect(columns, names(data)))
}
