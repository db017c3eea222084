# The one call of Python for functions that take features and response, or losses: what a user gave
# is read by the names of the arguments.

# How arguments are read, by name, where more is to be done than to pass them on. `size` has the number
# of observations and that of learners.
readers <- list(
  alternative = function(value, size)
    sub(".", "-", one_of(value, c("two.sided", "less", "greater"), "alternative"), fixed = TRUE),
  baseline = function(value, size) by_place(value, "baseline", size$learners),
  # Python knows R's working directory, and not what R means by "~".
  checkpoint = function(value, size) if (is_text(value)) normalizePath(value, mustWork = FALSE) else value,
  conf.level = function(value, size) refuse_level(value, "conf.level"),
  correction = function(value, size) as_correction(value),
  design = function(value, size) as_design(value, size$obs),
  group_weight = function(value, size) one_of(value, c("group", "row"), "group_weight"),
  tests = function(value, size) as_tests(value, size$obs))

# Arguments that are read together with the data.
of_data <- c("x", "y", "learner", "other", "learners", "loss", "metric", "scoring", "positive",
             "pos_label", "groups", "weights", "n_jobs", "...")

# The other arguments of a call with these defaults; one that is NULL both ways is left to Python.
other_arguments <- function(defaults, frame, size) {
  values <- mget(as.character(names(defaults)), frame)
  values <- values[!vapply(values, is.null, NA) | !vapply(defaults, is.null, NA)]
  for (name in intersect(names(values), names(readers)))
    values[name] <- list(readers[[name]](values[[name]], size))
  names(values) <- sub(".", "_", names(values), fixed = TRUE)
  values
}

# Call a function of Python with what the user gave to a default method, whose frame this is. `own`
# names arguments that other functions have in another sense, and ... are further ones for Python.
ask_of_data <- function(.function, ..., own = NULL, frame = parent.frame(),
                        defaults = formals(sys.function(sys.parent()))) {
  given <- function(name)
    if (name %in% setdiff(names(defaults), own)) get(name, frame)
  sample <- as_sample(frame$x, frame$y, as_positive(frame$positive, frame$pos_label), frame$groups,
                      written_in("x", frame), written_in("y", frame), frame$weights,
                      given("metric"), given("scoring"))
  asked <- if ("loss" %in% names(defaults))
    loss_or_metric(given("loss"), given("metric"), sample$response, sample$labels,
                   several = "tests" %in% names(defaults))
  scoring <- if (!is.null(given("scoring")))
    list(scoring = as_scoring(given("scoring"), sample$response, written_in("scoring", frame)))
  size <- list(obs = nrow(sample$x), learners = length(given("learners")))
  others <- other_arguments(defaults[setdiff(names(defaults), setdiff(of_data, own))], frame, size)
  arguments <- c(list(...), asked, scoring, others, list(
    pos_label = positive_of(sample, given("metric"), given("scoring")), groups = sample$groups,
    remarks = remark_on_costs(asked), rng = draw_seed()))
  fields <- with_workers(frame$n_jobs, call_python(
    .function, X = sample$x, y = sample$y,
    .more = c(learners_in(frame, names(defaults), sample), arguments)))
  c(fields, data.name = sample$name, list(labels = sample$labels))
}

# The learners of a call, as Python takes them.
learners_in <- function(frame, names, sample) {
  if ("learners" %in% names)
    return(list(learners = named_learners(frame$learners, sample, written_in("learners", frame))))
  given <- Filter(function(name) name == "learner" || !is.null(frame[[name]]),
                  intersect(c("learner", "other"), names))
  lapply(structure(given, names = given), function(name)
    as_learner(frame[[name]], name, written_in(name, frame), sample))
}

# The same with losses that exist already.
ask_of_losses <- function(.function, ..., frame = parent.frame(),
                          defaults = formals(sys.function(sys.parent()))) {
  losses <- frame$x
  learners <- intersect(c("learner", "other"), names(defaults))
  # Where nobody says it, the losses decide how much clusters count.
  unsaid <- if ("group_weight" %in% names(defaults) && eval(quote(missing(group_weight)), frame))
    "group_weight"
  others <- other_arguments(defaults[setdiff(names(defaults), c(of_data, unsaid))], frame,
                            list(obs = losses$n_obs, learners = length(losses$learners)))
  given <- Filter(Negate(is.null), mget(learners, frame))
  given <- Map(by_place, given, names(given), length(losses$learners))
  metric <- if (!is.null(frame$metric))
    list(metric = as_metric(frame$metric, losses$labels, several = TRUE))
  fields <- call_python(.function, ..., .more = c(given, metric, others))
  c(fields, data.name = losses$data.name)
}

# A learner by name or number, for Python, which counts from 0.
by_place <- function(learner, argument, n_learners) {
  if (!is.numeric(learner)) return(learner)
  if (length(learner) != 1L || !learner %in% seq_len(n_learners))
    stop_user("'", argument, "' must be the name of a learner, or a number from 1 to ", n_learners,
              ", got ", toString(learner))
  as.integer(learner) - 1L
}

# What the user wrote for an argument of the function with this frame.
written_in <- function(name, frame) eval(call("substitute", as.name(name)), frame)

# set.seed() decides the draws: Python's generator starts from a number that R draws.
draw_seed <- function() sample.int(.Machine$integer.max, 1L)

# Arguments without a default that the calling function lacks, each with what to give.
refuse_lacking <- function(...) {
  what <- c(...)
  for (name in names(what)) if (eval.parent(call("missing", as.name(name))))
    stop_user("'", name, "' is missing: ", if (!startsWith(what[[name]], "name ")) "give ", what[[name]])
}

the_response <- "the response, or a formula and data"

refuse_unknown <- function(...) {
  if (...length() == 0L) return(invisible())
  unknown <- ...names()
  if (is.null(unknown) || !any(nzchar(unknown)))
    stop_user("too many arguments: name those after 'learner'")
  stop_user("unknown argument ", paste0("'", unknown[nzchar(unknown)], "'", collapse = ", "),
            ": see ?", deparse1(user_call()[[1L]]))
}

refuse_level <- function(level, name) {
  if (!is.numeric(level) || length(level) != 1L || is.na(level) || level <= 0 || level >= 1)
    stop_user("'", name, "' must be a number between 0 and 1, such as 0.95")
  level
}

one_of <- function(value, choices, argument) {
  if (identical(value, choices)) return(choices[1L])
  if (!is_text(value) || is.na(match <- pmatch(value, choices)))
    stop_user("'", argument, "' must be one of ", quoted(choices))
  choices[match]
}
