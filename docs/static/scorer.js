// Pages to read come before the descriptions of functions, which repeat their words.
const Scorer = {
  score: ([name, title, anchor, description, score]) =>
    score + (name.startsWith("notebooks/") ? 12 : 0) - (name.startsWith("reference/") ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
