// Search of the site: every section and claim with all words of the query, best first.
const SHOWN = 40;
const PASSAGE = 260; // letters
// Readers' words, and those that our pages use for the same.
const ALSO = {
  annotator: ["rater", "worker"],
  bias: ["prime", "priming"],
  chatbot: ["model"],
  child: ["age", "ages"],
  comparisons: ["holm"],
  confidence: ["assertive", "confident"],
  confident: ["assertive"],
  crowdworker: ["crowd worker", "worker"],
  factual: ["factuality"],
  hallucination: ["factual error", "factuality"],
  hallucinate: ["factual error", "factuality"],
  harmful: ["harm"],
  hedging: ["cautious"],
  iaa: ["agreement"],
  interrater: ["agreement"],
  "inter-rater": ["agreement"],
  judge: ["evaluator"],
  kappa: ["alpha", "ac1"],
  llm: ["model"],
  matter: ["weigh"],
  multiple: ["holm"],
  "p-hacking": ["specification", "ways to compute"],
  power: ["how large", "how many"],
  preference: ["prefer"],
  quality: ["rely on"],
  reliability: ["agreement", "agree", "rely on"],
  rlhf: ["human feedback"],
  sample: ["how large", "how many"],
  size: ["how large", "how many"],
  sycophancy: ["assertive"],
  toxicity: ["harm"],
  truthfulness: ["factuality"],
  verbosity: ["length"],
  verbose: ["length"],
  vote: ["mode", "label"],
  wrong: ["contradicted"],
};
// Words that tell nothing of what is looked for.
const COMMON = new Set("a an analysis and are as by can do does for how in is it most number of on or the to versus vs what which who with".split(" "));
const ENDINGS = /(ations?|ings?|als?|ies|es|ed|s)$/;

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
// A number is found whole; a word where one begins with it.
const pattern = (word) =>
  /^[-−]?[\d.,]+%?$/.test(word)
    ? `(?<![\\d.,])${escaped(word)}(?![\\d]|[.,]\\d)`
    : `(?<![\\p{L}\\d])${escaped(word)}`;

function asked(query) {
  const typed = query.toLowerCase().split(/[\s"“”?!;:()]+/).filter((word) => word);
  const telling = typed.filter((word) => !COMMON.has(word));
  const words = telling.length ? telling : typed;
  return words.map((word) => {
    const stem = word.replace(ENDINGS, "");
    const single = stem.length >= 4 ? stem : word;
    const known = ALSO[word] ?? ALSO[word.replace(/s$/, "")] ?? [];
    const same = [single, ...known];
    return {
      own: new RegExp(pattern(single), "giu"),
      any: new RegExp(same.map(pattern).join("|"), "giu"),
    };
  });
}

const count = (text, expression) => [...text.matchAll(expression)].length;

function score(entry, word) {
  // a long text holds many words: what is said in a short one counts more
  const share = 2 / Math.sqrt(1 + entry.text.length / 1000);
  const places = [[entry.page, 4], [entry.heading, 4], [entry.text, share]];
  let sum = 0;
  for (const [text, weight] of places) {
    sum += weight * Math.log2(1 + count(text, word.any));
    sum += weight * Math.log2(1 + count(text, word.own));
  }
  return sum;
}

function find(query) {
  const words = asked(query);
  const hits = [];
  for (const entry of SECTIONS) {
    const scores = words.map((word) => score(entry, word));
    const found = scores.filter((value) => value > 0).length;
    const sum = scores.reduce((total, value) => total + value, 0);
    if (found) hits.push({ entry, found, rank: sum * entry.weight });
  }
  const most = Math.max(0, ...hits.map((hit) => hit.found));
  const best = hits.filter((hit) => hit.found === most);
  best.sort((one, other) => other.rank - one.rank);
  return { words, hits: best, all: most === words.length };
}

// Where the passage with most of the words begins.
function passage(text, words) {
  const places = words.flatMap((word, which) =>
    [...text.matchAll(word.any)].map((match) => ({ at: match.index, which })));
  let best = { at: 0, words: 0 };
  for (const { at } of places) {
    const near = places.filter((other) => other.at >= at && other.at < at + PASSAGE - 90);
    const found = new Set(near.map((other) => other.which)).size;
    if (found > best.words || (found === best.words && at < best.at)) best = { at, words: found };
  }
  return best.at;
}

// The passage, with what was found marked.
function snippet(text, words) {
  const first = passage(text, words);
  const start = first < 90 ? 0 : text.indexOf(" ", first - 80) + 1;
  const part = text.slice(start, start + PASSAGE);
  const line = document.createElement("p");
  const marks = new RegExp(words.map((word) => word.any.source).join("|") || "$^", "giu");
  let end = 0;
  if (start) line.append("… ");
  for (const match of part.matchAll(marks)) {
    const mark = document.createElement("mark");
    mark.textContent = match[0];
    line.append(part.slice(end, match.index), mark);
    end = match.index + match[0].length;
  }
  line.append(part.slice(end));
  if (start + PASSAGE < text.length) line.append(" …");
  return line;
}

function show(query) {
  const { words, hits, all } = find(query);
  const list = document.getElementById("results");
  const status = document.getElementById("hits");
  list.replaceChildren();
  if (!words.length) {
    status.textContent = "";
    return;
  }
  const shown = hits.length > SHOWN ? `, the first ${SHOWN} shown` : "";
  const places = hits.length === 1 ? "1 place" : `${hits.length} places`;
  status.textContent = hits.length
    ? `${places}${all ? "" : " with some of the words; none has all"}${shown}`
    : "Nothing found. Try another word.";
  for (const { entry } of hits.slice(0, SHOWN)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = entry.url;
    link.textContent = entry.heading === entry.page ? entry.page : `${entry.heading} · ${entry.page}`;
    item.append(link, snippet(entry.text, words));
    list.append(item);
  }
}

const field = document.querySelector(".bd-search-container input[name=q]");
field.value = new URLSearchParams(location.search).get("q") ?? "";
show(field.value);
field.addEventListener("input", () => show(field.value));
field.focus();
