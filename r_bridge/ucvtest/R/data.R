# Features and response as R users have them, checked and in the form that Python takes.

# Features, response and groups that belong together, the positive class, and what the data are
# called. `features` is what R functions get the rows of, `x` the matrix for Python.
as_sample <- function(x, y, positive, groups, x_written, y_written, weights = NULL, metric = NULL,
                      scoring = NULL) {
  source <- attr(x, "source")
  attr(x, "source") <- NULL
  # A column of x that says which rows belong together is no feature.
  if (is.data.frame(x) && is.character(groups) && length(groups) == 1L && nrow(x) != 1L) {
    if (!groups %in% names(x)) stop_user("'groups' is \"", groups, "\", and 'x' has no such column")
    column <- groups
    groups <- x[[column]]
    x <- x[setdiff(names(x), column)]
  }
  answer <- response(y, positive, metric, scoring)
  refuse_other_rows(list(x = x, y = y, groups = groups, weights = weights))
  features <- feature_matrix(x)
  # NumPy takes R's NA for an invalid number.
  features[is.na(features)] <- NaN
  attr(features, "variables") <- or_else(source$variables, plain_variables(x))
  list(x = features, features = x, y = answer$values, response = response_vector(y),
       labels = answer$labels, pos_label = answer$pos_label, named = answer$named,
       weights = as_weights(weights, nrow(features)),
       groups = as_labels(groups, nrow(features), "groups", ", or the name of a column"),
       missing = missing_values(or_else(source$columns, x)), where = or_else(source$where, "x"),
       source = source, as_factor = or_else(source$as_factor, written_as_factor(y_written)),
       name = or_else(source$name, paste(deparse1(x_written), "and", deparse1(y_written))))
}

# Resamples, or predictions of rules that learnt elsewhere, where features and response belong.
# `frame` is that of a default method, `learner` the name of its argument.
refuse_results <- function(frame, learner = "learner") {
  given <- function(name) !eval(call("missing", as.name(name)), frame)
  if (!given("x")) return(invisible())
  x <- frame$x
  test <- function_name(user_call()[[1L]])
  written <- function(name) deparse1(written_in(name, frame))
  if (inherits(x, c("rset", "rsplit")))
    stop_user("'x' is a ", last(class(x)), " of rsample, which splits rows and has no features: ",
              "type  ", test, "(response ~ ., data, learner, design = ", written("x"), ")")
  if (inherits(x, c("resamples", "train", "ResampleResult", "BenchmarkResult"))) {
    pair <- inherits(x, "train") && given("y") && inherits(frame$y, "train")
    results <- if (pair) paste0("list(a = ", written("x"), ", b = ", written("y"), ")")
               else written("x")
    stop_user("'x' is a ", class(x)[1L], ", which has no features: to test resamples, use ",
              "as_losses(): type  ", test, "(as_losses(", results,
              if (inherits(x, "resamples")) ", n = nrow(data)", "))")
  }
  if (inherits(x, "roc")) {
    # As pROC::roc.test() takes two of them.
    second <- if (given("y") && inherits(frame$y, "roc")) paste(", b =", written("y"))
    stop_user("'x' is a curve of pROC, which has no features: give curves by as_losses(), type  ",
              test, "(as_losses(list(a = ", written("x"), second, ")))")
  }
  are_predictions <- function(name) given(name) && is_column(frame[[name]], length(x))
  if (!is_column(x) || !are_predictions("y")) return(invisible())
  # A single feature goes with its response, and then comes a learner.
  if (given(learner) && !are_predictions(learner)) return(invisible())
  second <- if (given(learner)) paste(", b =", written(learner))
  of_scores <- test %in% c("delong_learners_test", "leave_pair_out_test")
  stop_user("'x' is a ", class(x)[1L], " and no table of features: to test predictions that ",
            "exist, use prediction_losses(): type  ", test, "(prediction_losses(", written("x"),
            ", data.frame(a = ", written("y"), second, ")",
            if (of_scores) ", loss = \"auc\"", "))")
}

# A vector or a factor with a value for each of several observations.
is_column <- function(values, n_obs = length(values))
  is.atomic(values) && is.null(dim(values)) && length(values) == n_obs && n_obs > 1L

# The variables that columns of a matrix come from, as numbers and text: whether rows repeat by
# chance is judged by these. NULL where they are no plain columns.
plain_variables <- function(variables) {
  if (!is.data.frame(variables) || !length(variables)) return(NULL)
  if (!all(vapply(variables, function(column) is.null(dim(column)), NA))) return(NULL)
  lapply(variables, function(column) {
    if (!is.numeric(column)) return(as.character(column))
    numbers <- as.double(column)
    # NumPy takes R's NA for an invalid number.
    replace(numbers, is.na(numbers), NaN)
  })
}

# What to type where a learner is to take numbers for labels.
written_as_factor <- function(written)
  paste0("factor(", if (is.language(written)) deparse1(written) else "y", ")")

# Rows are matched by position. Where two arguments have names of rows, they have to say the same.
# Arguments in `numbered` are numbered from 1 without names, if another has these numbers as names.
refuse_other_rows <- function(rows, numbered = NULL) {
  named <- Filter(Negate(is.null), lapply(rows, names_of_rows))
  for (other in rev(setdiff(numbered, names(named)))) {
    in_order <- as.character(seq_len(NROW(rows[[other]])))
    if (any(vapply(named, setequal, NA, in_order)))
      named <- c(structure(list(in_order), names = other), named)
  }
  for (other in names(named)[-1L]) {
    first <- named[[1L]]
    names <- named[[other]]
    if (length(names) != length(first) || identical(names, first)) next
    # sapply() gives groups the names of what they were made from.
    if (other %in% c("groups", "weights", "fold") && !any(names %in% first)) next
    permuted <- setequal(names, first)
    # Row numbers may be those of two tables.
    if (!permuted && (all_numbers(names) || all_numbers(first))) next
    stop_user("'", names(named)[1L], "' and '", other, "' have ",
              if (permuted) "the same names of rows in another order" else "different names of rows",
              ", but rows are matched by position: put them into one order by these names, or drop ",
              "names if the rows already correspond, as by ",
              if (is.null(dim(rows[[other]]))) "names(" else "rownames(", other, ") <- NULL")
  }
}

# NULL where there are none: also for the numbers that every data frame has, and for names that
# repeat, as sapply() makes them of labels.
names_of_rows <- function(values) {
  names <- if (is.data.frame(values)) own_row_names(values)
           else if (length(dim(values)) == 2L) rownames(values)
           else if (is.atomic(values)) names(values)
  if (!anyDuplicated(names) && !identical(names, as.character(seq_along(names)))) names
}

all_numbers <- function(names) all(grepl("^[0-9]+$", names))

# A table and its columns, by the names that messages have for them.
rows_by_name <- function(columns, argument) {
  table <- structure(list(if (!is.null(dim(columns))) columns), names = argument)
  if (is.matrix(columns) || !length(names(columns))) return(table)
  c(table, structure(as.list(columns), names = paste0(argument, "$", names(columns))))
}

# One label for each row.
as_labels <- function(given, n_obs, name, or = "") {
  if (is.null(given)) return(NULL)
  if (is.factor(given)) given <- as.character(given)
  if (!is.atomic(given) || length(given) != n_obs)
    stop_user("'", name, "' must be one label for each of ", n_obs, " rows", or, ", got ",
              describe(given))
  refuse_missing(given, name)
  as.vector(given)
}

as_weights <- function(weights, n_obs) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || length(weights) != n_obs || !all(is.finite(weights)) ||
      any(weights < 0))
    stop_user("'weights' must be one finite number, 0 or more, for each of ", n_obs, " rows")
  as.vector(weights)
}

# Numeric matrix that the jitted learners use; R functions get the rows of x itself.
feature_matrix <- function(x) {
  refuse_imputed(x, "x")
  if (length(dim(x)) == 2L && ncol(x) == 0L) stop_user("'x' has no columns")
  x <- dense(x)
  if (is.data.frame(x)) {
    refuse_lists(x, "x")
    refuse_other_units(x, "x")
    x <- dummy_matrix(with_factors(x))
    refuse_infinite(x, "x")
    return(x)
  }
  if (!is.matrix(x) || !(is.numeric(x) || is.logical(x)))
    stop_user("'x' must be a numeric matrix or a data frame, got ", describe(x),
              if (is.numeric(x)) ": use cbind(x) for a single feature",
              if (is.complex(x)) " of complex numbers: pass Re(x), or cbind(Re(x), Im(x))")
  storage.mode(x) <- "double"
  refuse_infinite(x, "x")
  x
}

# `labels` is NULL for numbers; otherwise the classes in the order of the levels. `pos_label` is the
# class that learners take for the positive one, by default the last; `named` says whether the user,
# or the labels themselves, name it.
response <- function(y, positive, metric = NULL, scoring = NULL) {
  if (is_survival(y)) {
    if (is.null(metric))
      stop_user("'y' is a survival time (Surv), which may be censored; tests of labels or numbers ",
                "cannot use it: give a metric of survival where there are metrics, such as ",
                "metric = \"harrell\", see ?metrics, or take the status at a fixed time")
    return(list(values = survival_times(y), labels = NULL, pos_label = positive, named = TRUE))
  }
  y <- response_vector(y)
  known <- is.factor(y) || is.character(y) || is.logical(y) || is.numeric(y)
  if (inherits(y, "haven_labelled"))
    stop_user("'y' has ", labelled, ": make it a factor by haven::as_factor(y), or numbers by ",
              "haven::zap_labels(y)")
  other_unit <- inherits(y, c("Date", "POSIXt", "difftime", "integer64"))
  if (!known || other_unit || !is.null(dim(y)))
    stop_user("'y' must be a vector or a factor, got ", describe(y), if (other_unit)
                ": use as.numeric(y) if they are amounts, factor(y) if they are labels")
  refuse_missing(y, "y")
  refuse_infinite(y, "y")
  if (has_decimals(y, ","))
    stop_user("'y' has numbers with decimal commas that are text: ", read_commas)
  if (is.character(y) && has_decimals(y, "."))
    stop_user("'y' has numbers that are text: use as.numeric(y) if they are amounts, factor(y) if ",
              "they are labels")
  # Labels that are numbers may be named as text, as levels are.
  if (is.numeric(y) && isTRUE(positive %in% as.character(y))) positive <- as.numeric(positive)
  if (is.numeric(y)) return(list(
    values = as.vector(y), labels = NULL, pos_label = positive,
    named = !is.null(positive) || says_positive(sort(unique(as.vector(y))))))
  classes <- classes_in_order(y)
  named <- !is.null(positive) || says_positive(classes)
  if (!is.null(positive)) {
    positive <- as.character(positive)
    # Of a single class, some metrics need the name of the other alone.
    if (!positive %in% c(classes, if (length(classes) == 1L) levels(y)))
      stop_user("positive = \"", positive, "\" is not one of the labels ",
                paste(sQuote(classes, FALSE), collapse = ", "), ": ",
                if (positive %in% levels(y)) "no observation has this level" else "name one of these")
  }
  # The second level is the positive class, wherever the alphabet would put it, where Python is told.
  else if (length(classes) == 2L)
    positive <- if (is_told(metric, scoring)) classes[2L] else sort(classes, method = "radix")[2L]
  list(values = with_order(as.character(y), y, metric), labels = classes, pos_label = positive,
       named = named)
}

is_survival <- function(y) inherits(y, "Surv")

# Surv() makes 0 and 1 of the status, whatever its coding was.
survival_times <- function(y) {
  kind <- attr(y, "type")
  if (!identical(kind, "right"))
    stop_user("'y' is a survival time of type \"", kind, "\", and metrics of survival need type ",
              "\"right\": Surv(time, event)")
  refuse_missing(y, "y")
  list(time = as.vector(y[, "time"]), event = as.vector(y[, "status"]))
}

# `pos_label` is what Python calls it, and what this package did at first.
as_positive <- function(positive, pos_label) {
  if (!is.null(positive) && !is.null(pos_label) && !identical(positive, pos_label))
    stop_user("'positive' and 'pos_label' name different classes: give 'positive' alone")
  positive <- or_else(positive, pos_label)
  if (!is.null(positive) && (!is.atomic(positive) || length(positive) != 1L || is.na(positive)))
    stop_user("'positive' must be the label of one class, got ", describe(positive))
  positive
}

# Whether two labels say themselves which of them is the positive class: only these do, in their
# order.
says_positive <- function(classes)
  paste(classes, collapse = " ") %in% c("0 1", "FALSE TRUE", "-1 1")

# A single column of scores does not say which of two classes it is about.
refuse_unnamed_class <- function(answer, loss, what) {
  # Numbers are labels for some losses, and amounts for others.
  of_numbers <- is.null(answer$labels)
  if (answer$named || of_numbers && !of_probabilities(loss)) return(invisible())
  classes <- if (of_numbers) sort(unique(answer$values)) else answer$labels
  if (length(classes) != 2L) return(invisible())
  shown <- if (of_numbers) as.character(classes) else dQuote(classes, FALSE)
  stop_user("'positive' is missing: ", what, " a score or a probability of one class, and the labels ",
            shown[1L], " and ", shown[2L], " do not tell which one: pass positive = ", shown[2L],
            " if high values mean ", shown[2L], ", or positive = ", shown[1L], " if they mean ",
            shown[1L])
}

# The classes in the order in which tables without names have them: that of the levels.
classes_in_order <- function(y) levels(droplevels(as.factor(y)))

# Costs of the classes, rows for the truth and columns for the prediction, with names.
as_costs <- function(costs, y) {
  classes <- classes_in_order(y)
  if (!is.numeric(costs) || !identical(dim(costs), rep(length(classes), 2L)))
    stop_user("'loss' is a ", describe(costs), ", and costs of ", length(classes), " classes are a ",
              "matrix of numbers with a row and a column for each")
  remark <- NULL
  if (is.null(rownames(costs)) || is.null(colnames(costs))) {
    remark <- in_order_of_levels("Rows and columns of the costs", classes)
    dimnames(costs) <- list(classes, classes)
  }
  columns <- lapply(seq_len(ncol(costs)), function(place) as.numeric(costs[, place]))
  c(list(rows = rownames(costs), costs = structure(columns, names = colnames(costs))),
    if (!is.null(remark)) list(remark = remark))
}

remark_on_costs <- function(asked) if (is.list(asked$loss)) asked$loss$remark

in_order_of_levels <- function(what, classes)
  paste0(what, " stand for the classes ", paste(dQuote(classes, FALSE), collapse = ", "),
         ", in the order of the levels.")

# A column for each class, as a list with their names.
columns_of_classes <- function(table, classes) {
  if (is.null(colnames(table)))
    colnames(table) <- if (ncol(table) == length(classes)) classes else paste0("V", seq_len(ncol(table)))
  lapply(as.data.frame(table, optional = TRUE), as.vector)
}

# A single column is a vector.
response_vector <- function(y) {
  if (length(dim(y)) != 2L || ncol(y) != 1L) return(y)
  if (is.data.frame(y)) y[[1L]] else y[, 1L]
}

# Labels that came back from Python in the type that the user gave them in.
like_response <- function(labels, y) {
  if (is.factor(y)) factor(labels, levels = levels(y))
  else if (is.logical(y)) as.logical(labels)
  else labels
}

refuse_missing <- function(values, name, or = "impute them") {
  found <- missing_values(values)
  if (!is.null(found))
    stop_user("'", name, "' has ", found, ": drop these observations",
              if (name == "y") " (na.action = na.omit with a formula)", ", or ", or)
}

refuse_missing_in <- function(columns, name, ...)
  for (column in names(columns)) refuse_missing(columns[[column]], paste0(name, "$", column), ...)

# How many rows lack a value, and in which columns; NULL where none does.
missing_values <- function(values) {
  values <- dense(values)
  missing <- is.na(values)
  if (!any(missing)) return(NULL)
  table <- length(dim(missing)) == 2L
  rows <- if (table) sum(rowSums(missing) > 0) else sum(missing)
  columns <- if (table) colnames(missing)[colSums(missing) > 0]
  paste0("missing values in ", rows, if (rows == 1) " row" else " rows",
         if (length(columns)) paste0(" (", paste(columns, collapse = ", "), ")"))
}

# Only the user knows whether they are amounts.
labelled <- "codes with labels (haven_labelled)"

# model.matrix() would make numbers of them without a word: seconds or days since 1970, the bits of a
# 64-bit integer. Complex ones it refuses without their name.
refuse_other_units <- function(columns, name) {
  refuse <- function(found, held, remedy) {
    if (any(found))
      stop_user("'", name, "' has ", held, " in column", if (sum(found) > 1L) "s", " ",
                paste(names(columns)[found], collapse = ", "), ": ", remedy)
  }
  of_class <- function(...) vapply(columns, inherits, NA, c(...))
  refuse(of_class("Date", "POSIXt", "difftime"), "dates or times",
         "make them numbers in a unit of your own by as.numeric(), or drop them")
  refuse(of_class("integer64"), "64-bit integers",
         "make them numbers by as.numeric(), or drop them")
  refuse(of_class("haven_labelled"), labelled,
         "make them factors by haven::as_factor(), or numbers by haven::zap_labels()")
  refuse(vapply(columns, is.complex, NA), "complex numbers",
         "pass Re() of them, Re() and Im() as two columns, or drop them")
  refuse(vapply(columns, has_decimals, NA, ","), "numbers with decimal commas that are text",
         read_commas)
  text <- vapply(columns, is.character, NA)
  refuse(text & vapply(columns, has_decimals, NA, "."), "numbers that are text",
         "make them numbers by as.numeric(), or factor() if they are labels")
  # What model.matrix() says of these names no column.
  one_level <- function(column)
    (is.factor(column) || is.character(column)) && length(unique(stats::na.omit(column))) < 2L
  refuse(vapply(columns, one_level, NA), "the same label everywhere", "drop it")
}

# Several completed tables, or the models that were fitted to them.
refuse_imputed <- function(data, name) {
  if (!inherits(data, c("mids", "mira"))) return(invisible())
  stop_user("'", name, "' is a ", intersect(c("mids", "mira"), class(data)), " of mice, which has ",
            if (inherits(data, "mids")) "several completed tables" else "fitted models and no table",
            ": take one completed table, as by mice::complete(",
            if (inherits(data, "mids")) name else "imputed", ", 1), or impute in a learner of your own")
}

# Whether labels are numbers, of which some have decimals: a dummy variable for each would be as
# good as one for each row.
has_decimals <- function(labels, mark) {
  if (!is.character(labels) && !is.factor(labels)) return(FALSE)
  values <- unique(as.character(labels))
  # By bytes, as other columns may be in an encoding that is not that of the session.
  matches <- function(pattern) grepl(pattern, values, useBytes = TRUE)
  values <- values[!is.na(values) & !matches("^ *(NA)? *$")]
  number <- "^ *[-+]?([0-9]+[%1$s]?[0-9]*|[%1$s][0-9]+)([eE][-+]?[0-9]+)? *$"
  all(matches(sprintf(number, mark))) && any(matches(sprintf("[%s]", mark)))
}

read_commas <- paste0("read the file by read.csv2(), or by read.csv(dec = \",\"), or make them ",
                      "numbers by as.numeric(sub(\",\", \".\", column, fixed = TRUE))")

# What model.frame() says of these names no argument.
refuse_lists <- function(columns, name) {
  plain_list <- function(column) is.list(column) && !inherits(column, c("data.frame", "POSIXlt"))
  found <- vapply(columns, plain_list, NA)
  if (any(found))
    stop_user("'", name, "' has a list in column ", names(columns)[found][1L],
              ": make one number or label of each of its elements, or drop it")
}

# Python would count rows from 0.
refuse_infinite <- function(values, name) {
  found <- is.numeric(values) & is.infinite(values)
  if (!any(found)) return(invisible())
  stop_user("'", name, "' has infinite values, the first in row ",
            min(if (is.matrix(found)) row(found)[found] else which(found)),
            ": drop these observations, or impute them")
}

is_text <- function(value) is.character(value) && length(value) == 1L && !is.na(value)

describe <- function(value) {
  if (!is.null(dim(value)))
    paste0(class(value)[1L], " of ", paste(dim(value), collapse = " x "))
  else paste0(class(value)[1L], " of length ", length(value))
}

# An error that names the call of the user instead of a helper.
stop_user <- function(...) stop(errorCondition(paste0(...), call = user_call()))
