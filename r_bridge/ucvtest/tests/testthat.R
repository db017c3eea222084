library(testthat)
library(ucvtest)

test_check("ucvtest")
