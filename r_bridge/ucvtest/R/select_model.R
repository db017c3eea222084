select_model <- function(x, ...) UseMethod("select_model")

select_model.default <- function(x, y, learners, criterion = "permutation",
                                 n_permutations = 100, n_folds = 10, n_left_out = NULL,
                                 complexity = NULL, loss = NULL, pos_label = NULL, groups = NULL,
                                 group_weight = c("group", "row"), weights = NULL,
                                 ...) {
  refuse_unknown(...)
  if (missing(y)) stop_user("'y' is missing: give the response, or a formula and data")
  if (missing(learners))
    stop_user("'learners' is missing: name some, such as c(\"knn:1\", \"knn:5\")")
  if (!is.list(learners)) learners <- as.list(learners)
  sample <- as_sample(x, y, pos_label, groups, substitute(x), substitute(y), weights)
  named <- lapply(seq_along(learners), function(place) {
    name <- names(learners)[place]
    learner <- as_learner(learners[[place]], "learners", quote(f()), sample)
    if (is.list(learner) && length(name) && nzchar(name)) learner$name <- name
    learner
  })
  fields <- call_python("select_model", x = sample$x, y = sample$y, learners = named,
    arguments = list(criterion = criterion, n_permutations = n_permutations,
                     n_folds = n_folds, n_left_out = n_left_out, loss = as_loss(loss, sample$response),
                     pos_label = sample$pos_label, groups = sample$groups,
                     group_weight = as_group_weight(group_weight), rng = draw_seed()),
    complexity = complexity)
  fields$table <- as.data.frame(fields$table, optional = TRUE)
  fields$choices <- unlist(fields$choices)
  structure(c(fields, data.name = sample$name), class = "ucvtest_selection")
}

select_model.formula <- formula_method(select_model.default)

print.ucvtest_selection <- function(x, ...) {
  cat("\n\tModel selection\n\ndata:  ", x$data.name, "\n\n", sep = "")
  print(x$table, row.names = FALSE, ...)
  cat("\nbest by ", x$criterion, ":  ", x$best, "\n\n", sep = "")
  invisible(x)
}

as.data.frame.ucvtest_selection <- function(x, row.names = NULL, optional = FALSE, ...) x$table

plot.ucvtest_selection <- function(x, xlab = x$settings$complexity, ylab = NULL, main = NULL,
                                   ...) {
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
  picture <- list(xlabel = xlab, ylabel = paste("estimated", x$settings$loss_in_words),
                  title = "Model selection", layers = layers)
  draw_picture(picture, x, NULL, ylab, main, ...)
  invisible(x)
}
