// The page Play. Its numbers come from two tables on the page, and from REDRAWS.

const FEW = 30; // ratings: a mean of fewer says little
const MOST = 19000; // 1/10,000 of a point: no weight is larger
const RULES = [
  ["one worker", (share) => Number(share > 0)],
  ["a quarter", (share) => Number(share >= 0.25)],
  ["half", (share) => Number(share >= 0.5)],
  ["most (a tie counts half)", (share) => (Number(share > 0.5) + Number(share >= 0.5)) / 2],
];

// ---- shared by all three

function readTable(name) {
  const [head, ...body] = document.querySelectorAll(`table.${name} tr`);
  const texts = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  const columns = texts(head);
  return body.map((row) => {
    const values = texts(row).map((text) => (isNaN(text) ? text : Number(text)));
    return Object.fromEntries(columns.map((column, i) => [column, values[i]]));
  });
}

function choices(name, legend, words, start) {
  const buttons = words.map((word, i) => {
    const checked = i === start ? " checked" : "";
    return `<label><input type="radio" name="${name}" value="${i}"${checked}>${word}</label>`;
  });
  return `<fieldset><legend>${legend}</legend><div class="choices">${buttons.join("")}</div></fieldset>`;
}

function chosen(place, name) {
  return Number(place.querySelector(`[name=${name}]:checked`).value);
}

// Bars stay the same elements, so that they move when a value changes. Without heads
// each bar has one number beside it; with heads it has one for each head.
function addBars(labels, kinds, heads = []) {
  const numbers = "<b></b>".repeat(heads.length || 1);
  const rows = labels.map(
    (label, i) => `<span>${label}</span><span class="bar ${kinds[i]}"><i></i></span>${numbers}`,
  );
  const top = heads.length ? ["", "", ...heads].map((head) => `<em>${head}</em>`).join("") : "";
  return `<div class="bars" style="--numbers:${heads.length || 1}">${top}${rows.join("")}</div>`;
}

function setBars(place, values, texts, most) {
  place.querySelectorAll(".bar i").forEach((bar, i) => {
    bar.style.width = `${(100 * Math.max(0, values[i])) / most}%`;
  });
  place.querySelectorAll(".bars b").forEach((cell, i) => {
    cell.textContent = texts[i];
  });
}

function withMinus(value, digits) {
  return value.toFixed(digits).replace(/^-0(\.0*)?$/, "0$1").replace("-", "−");
}

function say(place, text) {
  place.querySelector("[role=status]").innerHTML = text;
}

// ---- 279 answers

function playAnswers(place) {
  const rows = readTable("play-answers");
  for (const row of rows) row.share = row.ticks / row.workers;
  rows.sort((a, b) => b.share - a.share);
  const groups = { error: "The expert sees an error", "no error": "The expert sees none" };
  const dots = Object.keys(groups).map(
    (label) => `<p data-text="${label}"></p><div class="dots" data-expert="${label}" aria-hidden="true"></div>`,
  );
  place.innerHTML =
    choices("rule", "An answer counts as wrong if this many workers say so:", RULES.map(([word]) => word), 3) +
    addBars(["The expert", "A single worker", "Your rule"], ["first", "", ""]) +
    '<p role="status"></p>' + dots.join("");

  const sum = (part, value) => part.reduce((total, row) => total + row.answers * value(row), 0);
  const answers = sum(rows, () => 1);
  const rate = (part, value) => (100 * sum(part, value)) / sum(part, () => 1);
  const expert = rate(rows, (row) => Number(row.expert === "error"));
  const single = rate(rows, (row) => row.share);

  function show() {
    const counts = (row) => RULES[chosen(place, "rule")][1](row.share);
    const flagged = rate(rows, counts);
    const rates = [expert, single, flagged];
    setBars(place, rates, rates.map((each) => `${each.toFixed(1)} %`), 55);
    const gap = Math.abs(flagged - expert).toFixed(1);
    const side = flagged < expert ? "below" : "above";
    say(place, `Your rule ends <strong>${gap} points ${side}</strong> the expert, on the same ${answers} answers.`);
    for (const [label, words] of Object.entries(groups)) {
      const part = rows.filter((row) => row.expert === label);
      place.querySelector(`[data-text="${label}"]`).innerHTML =
        `<strong>${words}:</strong> your rule flags <strong>${rate(part, counts).toFixed(0)} %</strong> of ${sum(part, () => 1)}`;
      place.querySelector(`[data-expert="${label}"]`).innerHTML = part
        .map((row) => `<i style="--share:${row.share};--counts:${counts(row)}"></i>`.repeat(row.answers))
        .join("");
    }
  }

  place.addEventListener("change", show);
  show();
}

// ---- rate an answer

function playRatings(place) {
  const rows = readTable("play-ratings");
  const aspects = ["factuality", "amount", "formality"];
  const legends = ["Factuality", "Amount of information", "Formality"];
  const levels = aspects.map((aspect) => [...new Set(rows.map((row) => row[aspect]))]);
  const start = ["entirely right", "says too little", "right tone"];
  place.innerHTML =
    aspects.map((aspect, i) => choices(aspect, legends[i], levels[i], levels[i].indexOf(start[i]))).join("") +
    addBars(["People said", "Weighted sum", "Tree"], ["first", "", ""]) +
    '<p role="status"></p><div class="two">' +
    '<div><p><strong>What people said, any formality</strong></p><div class="map" role="table" aria-label="Mean acceptability"></div></div>' +
    '<div><p><strong>The tree:</strong> left is no, right is yes</p><div class="tree" role="img"></div></div></div>';

  function show() {
    const now = aspects.map((aspect, i) => levels[i][chosen(place, aspect)]);
    const row = rows.find((each) => aspects.every((aspect, i) => each[aspect] === now[i]));
    const values = [row.mean, row["weighted sum"], row.tree];
    setBars(place, values, values.map((each) => `${withMinus(each, 1)} of 3`), 3);
    const gap = row["weighted sum"] - row.mean;
    const side = gap < 0 ? "below" : "above";
    const compared =
      row.ratings < FEW
        ? "<strong>too few to rely on</strong>."
        : `and the weighted sum is <strong>${Math.abs(gap).toFixed(1)} points ${side}</strong> their mean.`;
    say(place, `People chose these three in ${row.ratings.toLocaleString("en")} ratings, ${compared}`);
    drawMap(place.querySelector(".map"), rows, levels, now);
    drawTree(place.querySelector(".tree"), rows, row);
  }

  place.addEventListener("change", show);
  place.querySelector(".map").addEventListener("click", (event) => {
    for (const [aspect, level] of Object.entries(event.target.dataset)) {
      place.querySelector(`[name=${aspect}][value="${level}"]`).checked = true;
    }
    show();
  });
  show();
}

function drawMap(map, rows, [facts, amounts], [fact, amount]) {
  const asRow = (cells) => `<div role="row">${cells.join("")}</div>`;
  const heads = ["", ...amounts].map((each) => `<span role="columnheader">${each}</span>`);
  const lines = [...facts].reverse().map((right) => {
    const cells = amounts.map((extent) => {
      const cell = rows.filter((row) => row.factuality === right && row.amount === extent);
      const ratings = cell.reduce((sum, row) => sum + row.ratings, 0);
      const mean = cell.reduce((sum, row) => sum + row.ratings * row.mean, 0) / ratings;
      const here = right === fact && extent === amount;
      const levels = `data-factuality="${facts.indexOf(right)}" data-amount="${amounts.indexOf(extent)}"`;
      const style = `style="--points:${mean.toFixed(3)}" aria-current="${here}"`;
      return `<span role="cell" ${levels} ${style}>${mean.toFixed(2)}</span>`;
    });
    return asRow([`<span role="rowheader">${right}</span>`, ...cells]);
  });
  map.innerHTML = asRow(heads) + lines.join("");
}

// Each row has its path: three questions with replies. Boxes are what paths share.
function drawTree(tree, rows, chosenRow) {
  const steps = (row) => row["questions of the tree"].split(", ");
  const replies = (row) => steps(row).map((step) => Number(step.endsWith("yes"))).join("");
  const leaves = [...new Map(rows.map((row) => [replies(row), row])).values()];
  leaves.sort((a, b) => replies(a).localeCompare(replies(b)));
  const path = replies(chosenRow);
  let html = "";
  for (const level of [0, 1, 2]) {
    const boxes = new Map(leaves.map((row) => [replies(row).slice(0, level), steps(row)[level]]));
    for (const [before, step] of boxes) {
      const here = path.startsWith(before) ? "here" : "";
      html += `<span class="${here}" style="grid-column:span ${8 >> level}">${step.split(":")[0]}?</span>`;
    }
  }
  for (const row of leaves) {
    const here = replies(row) === path ? "here" : "";
    html += `<span class="${here}">${row.tree.toFixed(1)}</span>`;
  }
  tree.innerHTML = html;
  const asked = chosenRow["questions of the tree"];
  tree.setAttribute("aria-label", `${asked}. The tree predicts ${chosenRow.tree.toFixed(1)}.`);
}

// ---- ask other prompts

function playRedraws(place) {
  const { errors, fits } = REDRAWS;
  const labels = ["majority", "share"];
  const penalties = [...new Set(fits.map((fit) => fit.penalty))];
  const winner = (row) => errors[row.indexOf(Math.max(...row))];
  place.innerHTML =
    choices("labels", "An answer has an error", ["if most raters say so (a tie counts half)", "by the share of raters"], 0) +
    choices("penalty", "Penalty of the Lasso", ["half", "the paper's", "double"], 1) +
    '<p><button type="button">Redraw 180 prompts</button></p><p role="status"></p>' +
    addBars(errors, errors.map(() => ""), ["weight", "came first"]);
  let redraw = -1; // before the first one: the prompts that were asked

  function show() {
    const fit = fits.find(
      (each) => each.labels === labels[chosen(place, "labels")] && each.penalty === penalties[chosen(place, "penalty")],
    );
    const row = redraw < 0 ? fit.weights : fit.redraws[redraw];
    const firsts = fit.redraws.map(winner);
    const times = errors.map((error) => firsts.filter((each) => each === error).length);
    setBars(place, row, row.flatMap((each, i) => [withMinus(each / 10000, 2), `${times[i]}×`]), MOST);
    place.querySelectorAll(".bar").forEach((bar, i) => {
      bar.style.setProperty("--asked", Math.max(0, fit.weights[i]) / MOST);
      bar.classList.toggle("first", errors[i] === winner(row));
    });
    const which = redraw < 0 ? "The prompts that were asked" : `Redraw ${redraw + 1} of ${firsts.length}`;
    const most = Math.max(...times);
    say(
      place,
      `${which}: <strong>${winner(row)}</strong> comes first. Most often in ${firsts.length} redraws: ` +
        `<strong>${errors[times.indexOf(most)]}</strong>, ${most} times.`,
    );
  }

  place.querySelector("button").addEventListener("click", () => {
    redraw = (redraw + 1) % fits[0].redraws.length;
    show();
  });
  place.addEventListener("change", show);
  show();
}

playAnswers(document.getElementById("play-answers"));
playRatings(document.getElementById("play-ratings"));
playRedraws(document.getElementById("play-redraws"));
