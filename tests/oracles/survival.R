# What R's survival and riskRegression say of risks of survival times, for tests/full/metrics/test_survival_in_r.py.
#
# Five data sets: lung, pbc and veteran with two Cox models each, and two simulated ones with many ties of
# times and risks. Of each both scores (the second one rounded, so that it has ties), clusters, two times, and
# risks at these. Concordances are by concordance(timewt = "n" and "n/G2"), also up to the second time and by
# clusters; Brier scores and AUCs by Score(conservative = FALSE, cens.model = "km").
for (name in c("survival", "riskRegression", "jsonlite"))
  if (!requireNamespace(name, quietly = TRUE)) quit(status = 3)
suppressMessages({ library(survival); library(riskRegression) })

concordances <- function(data, end, weights) {
  fit <- function(score, ...) {
    data$score <- data[[score]]
    concordance(Surv(time, event) ~ score, data = data, reverse = TRUE, timewt = weights, influence = 1, ...)
  }
  first <- fit("a"); second <- fit("b"); up_to <- fit("b", ymax = end)
  clustered <- fit("a", cluster = data$cluster)
  sums <- function(fit) if (length(fit$dfbeta) == nrow(data)) rowsum(fit$dfbeta, data$cluster) else fit$dfbeta
  clustered_second <- fit("b", cluster = data$cluster)
  list(values = c(coef(first), coef(second)), se = sqrt(c(vcov(first), vcov(second))),
       difference_se = sqrt(sum((first$dfbeta - second$dfbeta)^2)),
       up_to = coef(up_to), up_to_se = sqrt(vcov(up_to)),
       clustered_se = sqrt(vcov(clustered)),
       clustered_difference_se = sqrt(sum((sums(clustered) - sums(clustered_second))^2)))
}

study <- function(data, first, second, times) {
  score <- Score(list(a = first, b = second), formula = Surv(time, event) ~ 1, data = data, times = times,
                 metrics = c("brier", "auc"), se.fit = TRUE, cens.model = "km", null.model = FALSE,
                 conservative = FALSE)
  of <- function(part, value, contrast) list(values = part$score[[value]], se = part$score$se,
    difference = part$contrasts[[contrast]], difference_se = part$contrasts$se)
  list(time = data$time, event = data$event, cluster = as.integer(factor(data$cluster)), a = data$a, b = data$b,
       times = times, first = first, second = second,
       harrell = concordances(data, times[2], "n"), uno = concordances(data, times[2], "n/G2"),
       brier = of(score$Brier, "Brier", "delta.Brier"), auc = of(score$AUC, "AUC", "delta.AUC"))
}

of_models <- function(data, first, second, times) {
  fits <- list(coxph(first, data = data, x = TRUE), coxph(second, data = data, x = TRUE))
  data$a <- round(predict(fits[[1]]), 6); data$b <- round(predict(fits[[2]]), 1)
  risks <- lapply(fits, function(fit) as.matrix(predictRisk(fit, newdata = data, times = times)))
  study(data, round(risks[[1]], 6), round(risks[[2]], 2), times)
}

simulated <- function(seed, n, digits, times) {
  set.seed(seed)
  x <- rnorm(n); z <- rnorm(n)
  dies <- ceiling(rexp(n, exp(x) / 10) / digits) * digits; leaves <- ceiling(rexp(n, 0.08) / digits) * digits
  data <- data.frame(time = pmin(dies, leaves), event = as.integer(dies <= leaves), cluster = sample(n / 3, n, TRUE))
  data$a <- round(x + z / 2, 1); data$b <- round(x / 2 + z)
  risk <- function(score) round(sapply(times, function(time) pexp(time, exp(score) / 10)), 2)
  study(data, risk(data$a), risk(data$b), times)
}

patients <- lung[complete.cases(lung[, c("time", "status", "age", "ph.ecog", "sex", "inst")]), ]
patients$event <- as.integer(patients$status == 2); patients$cluster <- patients$inst
livers <- pbc[1:312, ]
livers$event <- as.integer(livers$status == 2); livers$cluster <- livers$stage * 10 + round(livers$age / 10)
veterans <- transform(veteran, event = status, cluster = celltype)
found <- list(
  lung = of_models(patients, Surv(time, event) ~ age + ph.ecog + sex, Surv(time, event) ~ age + sex, c(180, 360)),
  pbc = of_models(livers, Surv(time, event) ~ age + log(bili), Surv(time, event) ~ age + edema, c(1000, 2500)),
  veteran = of_models(veterans, Surv(time, event) ~ karno + age, Surv(time, event) ~ age + diagtime, c(60, 150)),
  few_times = simulated(1, 90, 3, c(3, 9)), many_ties = simulated(2, 150, 1, c(4, 8.5)))
cat(jsonlite::toJSON(found, digits = NA, auto_unbox = TRUE), "\n", sep = "")
