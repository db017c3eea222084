# What R's survival says of AUCs of clustered observations, for tests/core/values/methods/classical/test_clusters.py.
#
# Renew (Debian: r-cran-survival, r-cran-jsonlite), from the top of the repository:
#     Rscript --vanilla tests/oracles/clustered_auc.R > tests/oracles/clustered_auc.json
#
# Two scores with ties for 60 rows of clusters of 1 to 8. "mixed": clusters contain both labels; "pure": one
# each. `variance` is that of concordance(cluster =), `difference` that of the difference of both, from the
# influence values summed by cluster. With `weights`, 1 over the rows of the cluster with the same label,
# every cluster counts the same in each class: the variance then is that of its influence values too.
suppressMessages(library(survival))

set.seed(7)
id <- rep(1:16, c(1, 2, 8, 3, 1, 4, 5, 6, 2, 7, 3, 1, 8, 4, 3, 2))[sample(60)]
common <- rnorm(16)[id]
study <- function(y) {
  data <- data.frame(y = y, id = id, a = round(rnorm(60) + common + 0.8 * y, 1),
                     b = round(rnorm(60) + common / 2 + 0.4 * y, 1))
  data$equal <- 1 / ave(rep(1, 60), id, y, FUN = sum)
  of <- function(weights) {
    data$w <- weights
    fits <- list(concordance(y ~ a, data = data, cluster = id, weights = w, influence = 1),
                 concordance(y ~ b, data = data, cluster = id, weights = w, influence = 1))
    sums <- sapply(fits, function(fit) rowsum(c(fit$dfbeta), id_of(fit)))
    list(auc = sapply(fits, coef), variance = sapply(fits, function(fit) c(vcov(fit))),
         covariance = crossprod(sums))
  }
  # One value a cluster, or one a row where versions differ: rows of a cluster are added up then.
  id_of <- function(fit) if (length(fit$dfbeta) == 60) id else seq_along(fit$dfbeta)
  c(as.list(data), list(row = of(rep(1, 60)), group = of(data$equal)))
}
mixed <- rbinom(60, 1, plogis(common))
pure <- rbinom(16, 1, 0.5)[id]
versions <- list(R = paste(R.version$major, R.version$minor, sep = "."),
                 survival = as.character(packageVersion("survival")))
cat(jsonlite::toJSON(list(versions = versions, mixed = study(mixed), pure = study(pure)),
                     digits = NA, auto_unbox = TRUE), "\n", sep = "")
