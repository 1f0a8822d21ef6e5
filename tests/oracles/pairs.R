# Reference numbers of BradleyTerry2 and sandwich, which tests/test_preferences.py
# compares.
#
#     python tests/oracles/tables.py
#     Rscript tests/oracles/pairs.R > tests/oracles/pairs.csv
#
# R and both packages come from Debian: r-cran-bradleyterry2, r-cran-sandwich.
suppressPackageStartupMessages({
  library(BradleyTerry2)
  library(sandwich)
})
options(digits = 12)
rows <- read.csv("build/oracles/comparisons.csv")
systems <- sort(unique(c(rows$left, rows$right)))
won <- ifelse(rows$winner == "tie", 0.5, as.numeric(rows$winner == rows$left))

cat("model,name,estimate,standard_error\n")
show <- function(model, names, estimate, se = NA) {
  cat(sprintf("%s,%s,%.12g,%.12g\n", model, names, estimate, se), sep = "")
}

# strengths with and without the side; halves of wins give warnings only
left <- data.frame(system = factor(rows$left, systems), first = 1)
right <- data.frame(system = factor(rows$right, systems), first = 0)
plain <- suppressWarnings(BTm(cbind(won, 1 - won), left, right, ~ system,
                              id = "system"))
show("plain", sub("system", "", names(coef(plain))), coef(plain))
side <- suppressWarnings(BTm(cbind(won, 1 - won), left, right, ~ system + first,
                             id = "system"))
show("side", sub("system", "", names(coef(side))), coef(side))

# the same as a logistic regression, with its covariance by cluster (HC3)
x <- sapply(systems[-1], function(s) (rows$left == s) - (rows$right == s))
table <- data.frame(won, x, first = 1, longer = (rows$words - rows$words_right) / 100,
                    rater_id = rows$rater_id, prompt_id = rows$prompt_id)
formula <- reformulate(c(systems[-1], "first", "longer"), "won", intercept = FALSE)
fit <- glm(formula, quasibinomial, table)
for (cluster in c("rater_id", "prompt_id")) {
  V <- vcovCL(fit, cluster = table[[cluster]], type = "HC3", cadjust = FALSE)
  show(cluster, names(coef(fit)), coef(fit), sqrt(diag(V)))
}
