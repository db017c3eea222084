# Learners of R's packages by every loss, against each package's own predict() by hand.
#
#   Rscript tests/nightly/plugins/r/by_hand.R
#
# A line for each case: task, learner, loss, and how far the losses of three resamples are apart.

suppressPackageStartupMessages({
  library(ucvtest)
  library(caret)
})
cars <- MASS::Cars93
cars$Man.trans.avail <- as.character(cars$Man.trans.avail)
folds <- split(seq_len(nrow(cars)), rep(1:3, length.out = nrow(cars)))
plain <- c("Weight", "Horsepower", "MPG.city")
with_factors <- c(plain, "AirBags", "Man.trans.avail")
with_missing <- c(with_factors, "Luggage.room")

# Dummies of all rows, as a model matrix has them.
numbers <- function(data, columns) model.matrix(~ ., data[columns])[, -1L]
as_factors <- function(data, columns) {
  found <- data[columns]
  text <- vapply(found, is.character, NA)
  found[text] <- lapply(found[text], function(column) factor(column, c("No", "Yes")))
  found
}

# What each package says of the rows `test` after it has learnt from `train`: function(target, train,
# test, columns) that returns labels, probabilities (a column for each class) or numbers.
of_table <- function(fit, label, prob) function(target, train, test, columns) {
  known <- cbind(as_factors(train, columns), y = train[[target]])
  fitted <- fit(y ~ ., known)
  new <- as_factors(test, columns)
  list(label = predict(fitted, new, type = label), prob = predict(fitted, new, type = prob))
}
of_posterior <- function(fit) function(target, train, test, columns) {
  found <- predict(fit(numbers(train, columns), train[[target]]), numbers(test, columns))
  list(label = found$class, prob = found$posterior)
}
glmnet_of <- function(fit, s) function(target, train, test, columns) {
  y <- train[[target]]
  family <- if (!is.factor(y)) "gaussian" else if (nlevels(y) > 2L) "multinomial" else "binomial"
  fitted <- fit(numbers(train, columns), y, family)
  of <- function(type) predict(fitted, numbers(test, columns), s = s, type = type)
  if (family == "gaussian") return(list(number = of("response")[, 1L]))
  prob <- of("response")
  list(label = of("class")[, 1L],
       prob = if (family == "binomial") cbind(1 - prob[, 1L], prob[, 1L]) else prob[, , 1L])
}
two_columns <- function(second, classes)
  structure(cbind(1 - second, second), dimnames = list(NULL, classes))

classifiers <- list(
  "MASS::lda" = list(columns = with_factors, hand = of_posterior(MASS::lda)),
  "MASS::qda" = list(columns = plain, hand = of_posterior(MASS::qda)),
  rpart = list(columns = with_missing, hand = of_table(rpart::rpart, "class", "prob")),
  naiveBayes = list(columns = with_missing, hand = function(target, train, test, columns) {
    fitted <- e1071::naiveBayes(as_factors(train, columns), train[[target]])
    new <- as_factors(test, columns)
    list(label = predict(fitted, new), prob = predict(fitted, new, type = "raw"))
  }),
  knn3 = list(learner = r_learner("knn3", k = 7), columns = plain,
              hand = function(target, train, test, columns) {
    fitted <- knn3(numbers(train, columns), train[[target]], k = 7)
    new <- numbers(test, columns)
    list(label = predict(fitted, new, type = "class"), prob = predict(fitted, new, type = "prob"))
  }),
  multinom = list(columns = with_factors, hand = function(target, train, test, columns) {
    fitted <- nnet::multinom(y ~ ., cbind(as_factors(train, columns), y = train[[target]]),
                             trace = FALSE)
    new <- as_factors(test, columns)
    prob <- predict(fitted, new, type = "probs")
    classes <- levels(train[[target]])
    list(label = predict(fitted, new),
         prob = if (length(classes) == 2L) two_columns(prob, classes) else prob)
  }),
  ranger = list(learner = r_learner("ranger", num.trees = 51, seed = 1), columns = with_factors,
                hand = function(target, train, test, columns) {
    fit <- function(probability)
      predict(ranger::ranger(x = as_factors(train, columns), y = train[[target]], num.trees = 51,
                             seed = 1, num.threads = 1, probability = probability),
              as_factors(test, columns))$predictions
    list(label = fit(FALSE), prob = fit(TRUE))
  }),
  "glmnet(s = 0.05)" = list(learner = r_learner("glmnet", s = 0.05), columns = with_factors,
    hand = glmnet_of(function(x, y, family) glmnet::glmnet(x, y, family, lambda = 0.05), 0.05)),
  cv.glmnet = list(
    learner = r_learner("cv.glmnet", foldid = rep(1:3, length.out = 62)), columns = plain,
    hand = glmnet_of(function(x, y, family)
      glmnet::cv.glmnet(x, y, family = family, foldid = rep(1:3, length.out = 62)), "lambda.1se")),
  svm = list(learner = r_learner("e1071::svm", kernel = "linear"), columns = with_factors,
             losses = "zero_one", hand = function(target, train, test, columns) list(
    label = predict(e1071::svm(numbers(train, columns), train[[target]], kernel = "linear"),
                    numbers(test, columns)))),
  train = list(learner = r_learner("caret::train", method = "lda", tuneGrid = data.frame(parameter = 1)),
               columns = plain, hand = of_posterior(MASS::lda)))

two_classes <- list(
  glm = list(columns = with_factors, hand = function(target, train, test, columns) {
    fitted <- glm(y ~ ., binomial, cbind(as_factors(train, columns), y = train[[target]]))
    second <- predict(fitted, as_factors(test, columns), type = "response")
    classes <- levels(train[[target]])
    list(label = classes[1L + (second > 0.5)], prob = two_columns(second, classes))
  }),
  gam = list(columns = plain, hand = function(target, train, test, columns) {
    fitted <- mgcv::gam(reformulate(columns, "y"), binomial, cbind(train[columns], y = train[[target]]))
    second <- as.vector(predict(fitted, test[columns], type = "response"))
    classes <- levels(train[[target]])
    list(label = classes[1L + (second > 0.5)], prob = two_columns(second, classes))
  }))

by_table <- function(fit) function(target, train, test, columns)
  list(number = as.vector(predict(fit(y ~ ., cbind(as_factors(train, columns), y = train[[target]])),
                                  as_factors(test, columns))))
regressions <- list(
  lm = list(columns = with_factors, hand = by_table(lm)),
  rpart = list(columns = with_missing, hand = by_table(rpart::rpart)),
  gam = list(columns = plain, hand = by_table(function(formula, data)
    mgcv::gam(formula(terms(formula, data = data)), data = data))),
  ranger = list(learner = r_learner("ranger", num.trees = 51, seed = 1), columns = with_factors,
                hand = function(target, train, test, columns) list(
    number = predict(ranger::ranger(x = as_factors(train, columns), y = train[[target]], seed = 1,
                                    num.trees = 51, num.threads = 1),
                     as_factors(test, columns))$predictions)),
  svm = list(learner = r_learner("e1071::svm"), columns = with_factors,
             hand = function(target, train, test, columns) list(
    number = predict(e1071::svm(numbers(train, columns), train[[target]]), numbers(test, columns)))),
  "glmnet(s = 0.05)" = list(learner = r_learner("glmnet", s = 0.05), columns = with_factors,
    hand = glmnet_of(function(x, y, family) glmnet::glmnet(x, y, family, lambda = 0.05), 0.05)))

loss_by_hand <- function(loss, truth, found) {
  if (loss == "squared") return((found$number - truth)^2)
  if (loss == "absolute") return(abs(found$number - truth))
  if (loss == "zero_one") return(as.numeric(as.character(found$label) != as.character(truth)))
  classes <- levels(truth)
  prob <- if (is.null(colnames(found$prob))) found$prob else found$prob[, classes]
  prob <- matrix(prob, length(truth))
  own <- prob[cbind(seq_along(truth), as.integer(truth))]
  eps <- .Machine$double.eps
  if (loss == "log") return(-log(pmin(pmax(own, eps), 1 - eps)))
  # Of two classes the Brier score is about the second alone.
  if (length(classes) == 2L) (1 - own)^2 else rowSums((prob - diag(length(classes))[truth, ])^2)
}

compare <- function(target, learners, losses) {
  for (name in names(learners)) {
    case <- learners[[name]]
    learner <- if (is.null(case$learner)) name else case$learner
    # Every learner gets the columns that it can use.
    for (loss in if (is.null(case$losses)) losses else case$losses) {
      found <- suppressWarnings(evaluate_learners(
        reformulate(case$columns, target), cars, learner, folds, loss = loss))
      expected <- vapply(folds, function(test) {
        said <- suppressWarnings(case$hand(target, cars[-test, ], cars[test, ], case$columns))
        mean(loss_by_hand(loss, cars[[target]][test], said))
      }, 0)
      apart <- max(abs(found$means - expected))
      cat(sprintf("%s|%s|%s|%.3g|%.3g\n", target, name, loss, apart, mean(expected)))
    }
  }
}

of_labels <- c("zero_one", "log", "brier")
# Ties of votes for three classes are drawn by chance.
of_votes <- c("knn3", "ranger")
compare("Origin", c(classifiers, two_classes), of_labels)
compare("DriveTrain", classifiers[setdiff(names(classifiers), c("MASS::qda", of_votes))], of_labels)
compare("DriveTrain", classifiers[of_votes], c("log", "brier"))
compare("Price", regressions, c("squared", "absolute"))
