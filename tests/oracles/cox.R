# What R's survival says of Cox models, for tests/full/learners/jitted/test_cox.py.
#
# Renew (Debian: r-cran-survival, r-cran-jsonlite), from the top of the repository:
#     Rscript --vanilla tests/oracles/cox.R > tests/oracles/cox.json
#
# "veteran": survival's data. "ties": simulated, 30 different times, a third of them censored. Of each 100
# learning sets of half of the rows, as texts of zeros and ones, with the coefficients of coxph() for both ways
# with ties. `survival`: probabilities for all rows by survfit() after the first learning set, a row for each of
# `times`. `ridge`: the coefficients with ridge(theta = 2) after the first one, both without and with `scale`.
suppressMessages(library(survival))

study <- function(data, times) {
  n <- nrow(data)
  x <- setdiff(names(data), c("time", "event"))
  control <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 100)
  model <- as.formula(paste("Surv(time, event) ~", paste(x, collapse = "+")))
  learning <- replicate(100, sort(sample(n, n %/% 2)), simplify = FALSE)
  both <- function(f) list(efron = f("efron"), breslow = f("breslow"))
  fitted <- function(rows, ties) coxph(model, data[rows, ], ties = ties, control = control, model = TRUE)
  first <- learning[[1]]
  penalised <- function(scaled) {
    columns <- paste0("ridge(", paste(x, collapse = ","), ", theta = 2, scale = ", scaled, ")")
    formula <- as.formula(paste("Surv(time, event) ~", columns))
    unname(coef(coxph(formula, data[first, ], ties = "efron", control = control)))
  }
  list(
    x = unname(as.matrix(data[x])), time = data$time, event = data$event, times = times,
    learning = sapply(learning, function(rows) paste(as.integer(1:n %in% rows), collapse = "")),
    coefficients = both(function(ties) t(sapply(learning, function(rows) unname(coef(fitted(rows, ties)))))),
    survival = both(function(ties) {
      curves <- survfit(fitted(first, ties), newdata = data, se.fit = FALSE)
      unname(summary(curves, times = times, extend = TRUE)$surv)
    }),
    ridge = list(plain = penalised(FALSE), scaled = penalised(TRUE))
  )
}

set.seed(49)
lungs <- with(veteran, data.frame(time, event = status, karno = karno / 10, age = age / 10, diagtime = diagtime / 10,
                                  trt, prior = prior / 10, squamous = as.integer(celltype == "squamous")))
z <- matrix(round(rnorm(300), 2), 100)
simulated <- data.frame(time = pmin(ceiling(rexp(100, exp(z[, 1] - z[, 2] / 2)) * 20), 30), z)
simulated$event <- as.integer(runif(100) < 2 / 3)
versions <- list(R = paste(R.version$major, R.version$minor, sep = "."),
                 survival = as.character(packageVersion("survival")))
cat(jsonlite::toJSON(list(versions = versions, veteran = study(lungs, c(0.5, 30, 100, 900)),
                          ties = study(simulated, c(1, 5, 30))),
                     digits = I(13), auto_unbox = TRUE), "\n", sep = "")
