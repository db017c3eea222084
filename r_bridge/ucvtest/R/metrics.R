# Metrics that are no means of losses, such as F1 and R2: by Python's names, and by yardstick's where
# they mean the same number.

yardstick_names <- c(
  f_meas = "f1", sens = "recall", sensitivity = "recall", spec = "specificity", ppv = "precision",
  kap = "kappa", bal_accuracy = "balanced_accuracy", rsq_trad = "r2")

# As caret has them.
caret_names <- c(RMSE = "rmse", MAE = "mae", Accuracy = "accuracy", Kappa = "kappa", ROC = "auc",
                 logLoss = "log", Sens = "recall", Spec = "specificity", Precision = "precision",
                 Recall = "recall", F = "f1")

# Those whose numbers agree for two classes alone: yardstick averages over classes otherwise.
of_two_classes <- c("f_meas", "sens", "sensitivity", "spec", "ppv", "bal_accuracy")

# `labels` are the classes, NULL for numbers. Several names are for comparisons.
as_metric <- function(metric, labels, several = FALSE) {
  if (!is.character(metric) || anyNA(metric) || !length(metric) || length(metric) > 1L && !several)
    stop_user("'metric' must be the name of a metric, such as \"f1\", \"f1_macro\", \"fbeta(2)\" or ",
              "\"r2\", got ", describe(metric), if (is.function(metric))
                ": give a function of your own as 'scoring'")
  squared <- intersect(metric, c("rsq", "Rsquared"))
  if (length(squared))
    stop_user("'metric' is \"", squared[1L], "\", the squared correlation: use \"pearson\", the correlation, or ",
              "\"r2\", which yardstick calls rsq_trad")
  if (length(labels) > 2L) refuse_two_classes(metric, labels)
  other_names <- c(yardstick_names, caret_names)
  as.vector(ifelse(metric %in% names(other_names), other_names[metric], metric))
}

refuse_two_classes <- function(metric, labels) {
  found <- intersect(metric, of_two_classes)
  if (!length(found)) return(invisible())
  name <- yardstick_names[[found[1L]]]
  use <- if (name == "balanced_accuracy") "use \"balanced_accuracy\", the mean of the recalls"
         else if (name == "specificity") "merge classes"
         else paste0("use \"", name, "_macro\", or name the class: '", name, "[\"", labels[1L], "\"]'")
  stop_user("'metric' is \"", found[1L], "\", and 'y' has ", length(labels), " classes, for which ",
            "yardstick has another number: ", use)
}

is_by_order <- function(metric) any(metric %in% c("kappa_linear", "kappa_quadratic"))

# Labels, with their declared order where a metric goes by it: Python learns it from the attribute.
with_order <- function(values, y, metric)
  if (is_by_order(metric) && is.ordered(y)) structure(values, order = levels(y)) else values

# What is asked for, as Python takes it; of both it says that they exclude each other.
loss_or_metric <- function(loss, metric, y, labels, several = FALSE)
  c(if (is.null(metric) || !is.null(loss)) list(loss = as_loss(loss, y)),
    if (!is.null(metric)) list(metric = as_metric(metric, labels, several)))

# Labels other than FALSE and TRUE, 0 and 1, -1 and 1 do not say which of them a metric is about, and
# the second level is no better guess than the first, which yardstick and caret take.
positive_of <- function(answer, metric, scoring = NULL) {
  of_named_class <- is.character(metric) && any(grepl("[", metric, fixed = TRUE)) &&
    says_positive(answer$labels)
  if (is_told(metric, scoring) || answer$named && !of_named_class) answer$pos_label
}

# Whether Python is told the second level. Of metrics and of scores by name it asks for the class, or
# takes the last one in the alphabet if both have the same value; functions of R know it themselves.
is_told <- function(metric, scoring) is.null(metric) && !is.character(scoring)

# Metrics of labels that are about one of two classes.
is_of_one_class <- function(metric)
  is.character(metric) &&
    grepl("^(f1|fbeta\\([^)]*\\)|precision|recall|jaccard|specificity|npv)$", metric)

# Metrics that go by the order of predictions alone.
is_of_ranks <- function(metric)
  is.character(metric) &&
    grepl("^(auc|roc_auc|partial_auc|average_precision|harrell|uno)", metric)

# Ordered factors have an order, and no amounts.
as_scores <- function(predictions, metric) {
  if (!isTRUE(is_of_ranks(metric))) return(predictions)
  of_text <- vapply(predictions, function(each)
    is.character(each) && is.null(dim(each)) || is.factor(each) && !is.ordered(each), NA)
  if (any(of_text))
    stop_user("column '", names(predictions)[of_text][1L], "' of 'predictions' contains labels, and \"",
              metric, "\" goes by the order of scores: give numbers, or an ordered factor, lowest ",
              "level first, as by factor(levels = , ordered = TRUE)")
  lapply(predictions, function(each) if (is.ordered(each)) as.integer(each) else each)
}

# Metrics that learners' probabilities, or scores, are needed for.
of_probabilities <- function(metric)
  is.character(metric) &&
    grepl("^(net_benefit|brier|log|auc$|roc_auc|partial_auc|average_precision)", metric)
