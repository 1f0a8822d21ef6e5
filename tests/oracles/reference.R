# Reference numbers of lme4 and clubSandwich, which tests/test_regression.py compares.
#
#     python tests/oracles/tables.py
#     Rscript tests/oracles/reference.R > tests/oracles/reference.csv
#
# R and both packages come from Debian: r-cran-lme4, r-cran-clubsandwich.
suppressPackageStartupMessages({
  library(lme4)
  library(clubSandwich)
})
options(digits = 12)
folder <- "build/oracles"
errors <- c("contradiction", "inconsistency", "factuality", "relevance", "formatting",
            "refusal", "repetition", "scope", "fluency", "harmful")
aspects <- c("factuality", "amount_info", "formality")

cat("table,model,coefficient,estimate,standard_error,df\n")
show <- function(table, model, coefficient, estimate, se = NA, df = NA) {
  cat(table, model, coefficient, signif(estimate, 12), signif(se, 12),
      signif(df, 12), sep = ",")
  cat("\n")
}
read <- function(table) read.csv(file.path(folder, paste0(table, ".csv")))

# CR3 with Satterthwaite's degrees of freedom, one kind of cluster
by_cluster <- function(table, rows, formula, cluster) {
  fit <- lm(formula, data = rows)
  # the jackknife: CR3 times (G - 1) / G
  n <- length(unique(rows[[cluster]]))
  V <- vcovCR(fit, cluster = rows[[cluster]], type = "CR3")
  test <- coef_test(fit, vcov = V, test = "Satterthwaite")
  for (name in names(coef(fit))) {
    show(table, paste("CR3", cluster), name, coef(fit)[[name]],
         sqrt(V[name, name] * (n - 1) / n), test[test$Coef == name, "df_Satt"])
  }
}
within_raters <- function(table, rows, features) {
  formula <- reformulate(c(features, "factor(rater_id)"), "lower")
  fit <- lm(formula, data = rows)
  for (name in features) show(table, "within raters", name, coef(fit)[[name]])
}
mixed <- function(table, rows, features, groups) {
  model <- paste("lmer", paste(groups, collapse = " "))
  groups <- paste0("(1 | ", groups, ")")
  formula <- reformulate(c(features, groups), "lower")
  fit <- lmer(formula, data = rows, control = lmerControl(optimizer = "bobyqa"))
  for (name in features) {
    show(table, model, name, fixef(fit)[[name]], sqrt(vcov(fit)[name, name]))
  }
}

rows <- read("answers")
by_cluster("answers", rows, reformulate(errors, "lower"), "prompt_id")
rows <- read("checks")
within_raters("checks", rows, errors)
mixed("checks", rows, errors, "rater_id")
mixed("checks", rows, errors, c("rater_id", "prompt_id", "item_id"))
rows <- read("aspects")
by_cluster("aspects", rows, reformulate(aspects, "lower", intercept = FALSE), "question_id")
within_raters("aspects", rows, aspects)
mixed("aspects", rows, aspects, "rater_id")
mixed("aspects", rows, aspects, c("rater_id", "question_id", "item_id"))
rows <- read("drawn")
by_cluster("drawn", rows, lower ~ label + tone, "prompt_id")
by_cluster("drawn", rows, lower ~ label + tone, "rater_id")
within_raters("drawn", rows, c("label", "tone"))
mixed("drawn", rows, c("label", "tone"), c("rater_id", "prompt_id"))
