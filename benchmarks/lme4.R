# Mixed models of Hosking et al., experiment 1, which notebook 11 shows beside ours.
#
#     python tests/oracles/tables.py
#     Rscript benchmarks/lme4.R > data/lme4.csv
#
# Single scores, majority labels, random effects of raters, prompts and answers.
suppressPackageStartupMessages(library(lme4))
scores <- read.csv("build/oracles/scores.csv", check.names = FALSE)
keys <- c("item_id", "prompt_id", "rater_id", "lower")
errors <- setdiff(names(scores), keys)
groups <- c("(1 | rater_id)", "(1 | prompt_id)", "(1 | item_id)")
formula <- reformulate(c(sprintf("`%s`", errors), groups), "lower")
fit <- suppressMessages(lmer(formula, data = scores))

weights <- fixef(fit)
names(weights) <- gsub("`", "", names(weights))
covariance <- as.matrix(vcov(fit))
dimnames(covariance) <- list(names(weights), names(weights))
show <- function(term, contrast) {
  estimate <- sum(contrast * weights)
  se <- sqrt(drop(contrast %*% covariance %*% contrast))
  ends <- estimate + c(-1, 1) * qnorm(0.975) * se
  cat(term, sprintf("%.6f", c(estimate, ends)), sep = ",")
  cat("\n")
}
cat("term,estimate,low,high\n")
one <- function(error) as.numeric(names(weights) == error)
for (error in errors) show(error, one(error))
for (other in c("formatting", "repetition", "factual error")) {
  show(paste("refusal -", other), one("refusal") - one(other))
}
