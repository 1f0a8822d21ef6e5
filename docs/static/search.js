/* Changes to Sphinx's search; does nothing on other pages. */
if (typeof Search !== "undefined") {
  // Where no page has all words, list the pages that have most of them.
  const withAll = Search.performTermsSearch;
  Search.performTermsSearch = (terms, excluded) => {
    const all = withAll(terms, excluded);
    if (all.length || terms.size < 2) return all;
    const found = new Map();
    for (const term of terms)
      for (const result of withAll(new Set([term]), excluded)) {
        const page = found.get(result[0]) ?? { words: 0, score: 0, result };
        page.words += 1;
        page.score += result[4];
        found.set(result[0], page);
      }
    const pages = [...found.values()];
    const most = Math.max(...pages.map((page) => page.words));
    const best = pages.filter((page) => page.words === most);
    if (best.length) {
      const note = document.createElement("p");
      note.textContent = `No page has all of these words. Pages with ${most} of ${terms.size}:`;
      Search.output.before(note);
    }
    return best.map(({ result, score }) => result.with(4, score));
  };

  // Terms, written for the search, comes first among pages that fit equally well.
  Scorer.score = ([page, , , , score]) => score + (page === "docs/terms" ? 1 : 0);

  // Excerpts show what pages say, not code and what it shows.
  const toText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const code = page.querySelectorAll(".no-search, .cell_output, .cell summary");
    code.forEach((each) => each.remove());
    return toText(page.documentElement.outerHTML, anchor);
  };
}
