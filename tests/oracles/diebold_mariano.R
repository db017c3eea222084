# Statistics and p-values of forecast::dm.test, which tests/core/values/methods/classical/test_diebold_mariano.py
# compares with ours:  Rscript tests/oracles/diebold_mariano.R > tests/oracles/diebold_mariano.json
# Errors are those of a moving average, from Park and Miller's generator.

suppressMessages(library(forecast))

series <- function(n, seed) {
  state <- seed
  noise <- numeric(n + 3)
  for (i in seq_along(noise)) {
    state <- (16807 * state) %% 2147483647
    noise[i] <- state / 2147483647 - 0.5
  }
  noise[4:(n + 3)] + 0.6 * noise[3:(n + 2)] + 0.4 * noise[2:(n + 1)]
}

rows <- character()
for (n in c(12, 40, 150)) {
  first <- series(n, 7)
  second <- 1.2 * series(n, 11) + 0.05
  for (h in c(1, 2, 4)) for (power in 1:2) for (side in c("two.sided", "less", "greater"))
    for (weights in c("acf", "bartlett")) {
      found <- suppressWarnings(dm.test(first, second, alternative = side, h = h, power = power,
                                        varestimator = weights))
      rows <- c(rows, sprintf(
        '{"n": %d, "h": %d, "power": %d, "side": "%s", "weights": "%s", "statistic": %.17g, "pvalue": %.17g}',
        n, h, power, side, weights, found$statistic, found$p.value))
    }
}
cat("{\"made\": \"R ", as.character(getRversion()), ", forecast ",
    as.character(packageVersion("forecast")), "\",\n \"rows\": [\n  ",
    paste(rows, collapse = ",\n  "), "\n]}\n", sep = "")
