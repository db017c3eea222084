select_model <- function(x, ...) UseMethod("select_model")

select_model.default <- function(x, y, learners, criterion = "permutation",
                                 n_permutations = 100, n_folds = 10, n_left_out = NULL,
                                 complexity = NULL, loss = NULL, positive = NULL, groups = NULL,
                                 group_weight = c("group", "row"), weights = NULL,
                                 n_jobs = 1, scoring = NULL, criteria = NULL, max_seconds = NULL,
                                 pos_label = NULL, ...) {
  refuse_unknown(...)
  refuse_lacking(y = the_response, learners = "name some, such as c(\"knn:1\", \"knn:5\")")
  fields <- without(ask_of_data("select_model"), "labels")
  fields$table <- as.data.frame(fields$table, optional = TRUE)
  fields$choices <- unlist(fields$choices)
  fields$pictures <- list(criteria = selection_picture(fields))
  structure(fields, class = "ucvtest_selection")
}

select_model.formula <- formula_method(select_model.default)

# Whether learners have no degrees of freedom, and only their order places them.
by_number <- function(x) identical(x$settings$complexity, "number of the learner")

print.ucvtest_selection <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\n\tModel selection\n\ndata:  ", x$data.name, "\n\n", sep = "")
  # A number that only counts the learners says nothing, and neither does a column without numbers.
  empty <- vapply(x$table, function(column) all(is.na(column)), NA)
  shown <- setdiff(names(x$table)[!empty], if (by_number(x)) "complexity")
  print(x$table[shown], row.names = FALSE, digits = digits, ...)
  cat("\nbest by ", x$criterion, ":  ", x$best, "\n\n", sep = "")
  invisible(x)
}

# The criteria over the complexity of the learners, and the choice.
selection_picture <- function(x) {
  line <- function(column, role)
    list(mark = "line", x = x$table$complexity[order], y = x$table[[column]][order],
         label = column, role = role, width = NULL)
  order <- order(x$table$complexity)
  place <- x$choices[[x$criterion]]
  others <- setdiff(names(x$choices), x$criterion)
  layers <- c(list(line("e_in", "null")), lapply(others, line, "data"),
              list(line(x$criterion, "estimate")),
              list(list(mark = "points", x = x$table$complexity[place],
                        y = x$table[[x$criterion]][place], label = "chosen", role = "estimate")))
  list(xlabel = if (by_number(x)) "learner" else x$settings$complexity,
       ylabel = paste("estimated", x$settings$loss_in_words),
       ticks = if (by_number(x)) structure(x$table$complexity, names = x$table$learner),
       title = "Model selection", layers = layers)
}
