// Sphinx puts this into its own script, which asks for a var. Pages to read come before the descriptions of functions, which repeat their words.
var Scorer = {
  score: ([name, title, anchor, description, score]) =>
    score + (/^(notebooks|docs)\//.test(name) ? 12 : 0) - (name.startsWith("reference/") ? 20 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
