// The page Play. All numbers come from the two tables on the page.

const RULES = [
  ["one worker", (share) => (share > 0 ? 1 : 0)],
  ["a quarter", (share) => (share >= 0.25 ? 1 : 0)],
  ["half", (share) => (share >= 0.5 ? 1 : 0)],
  ["most (a tie counts half)", (share) => (share > 0.5 ? 1 : share === 0.5 ? 0.5 : 0)],
];
const FEW = 30; // ratings: a mean of fewer says little

function readTable(name) {
  const [head, ...body] = document.querySelectorAll(`table.${name} tr`);
  const texts = (row) => [...row.cells].map((cell) => cell.textContent.trim());
  const columns = texts(head);
  return body.map((row) => {
    const values = texts(row).map((text) => (isNaN(text) ? text : Number(text)));
    return Object.fromEntries(columns.map((column, i) => [column, values[i]]));
  });
}

function choices(name, legend, words, chosen) {
  const buttons = words.map((word, i) => {
    const checked = i === chosen ? " checked" : "";
    return `<label><input type="radio" name="${name}" value="${i}"${checked}>${word}</label>`;
  });
  return `<fieldset><legend>${legend}</legend><div class="choices">${buttons.join("")}</div></fieldset>`;
}

function chosen(place, name) {
  return Number(place.querySelector(`[name=${name}]:checked`).value);
}

function total(rows, value) {
  return rows.reduce((sum, row) => sum + row.answers * value(row), 0);
}

function bars(rows, most) {
  return rows
    .map(([label, value, text, kind]) => {
      const width = (100 * Math.max(0, value)) / most;
      return `<span>${label}</span><span class="bar ${kind}"><i style="width:${width}%"></i></span><b>${text}</b>`;
    })
    .join("");
}

function percent(part, whole, digits = 0) {
  return `${((100 * part) / whole).toFixed(digits)} %`;
}

function playAnswers(place) {
  const rows = readTable("play-answers");
  for (const row of rows) row.share = row.ticks / row.workers;
  rows.sort((a, b) => b.share - a.share);
  const groups = [
    ["error", "The expert sees an error", "expert"],
    ["no error", "The expert sees none", ""],
  ];
  place.innerHTML =
    choices("rule", "An answer counts as wrong if this many workers say so:", RULES.map(([word]) => word), 3) +
    '<div class="bars"></div><p role="status"></p>' +
    groups.map(([label, , kind]) => `<p data-of="${label}"></p><div class="dots ${kind}" data-dots="${label}"></div>`).join("");
  const all = total(rows, () => 1);
  const expert = total(rows, (row) => (row.expert === "error" ? 1 : 0));
  const single = total(rows, (row) => row.share);

  function show() {
    const [word, counts] = RULES[chosen(place, "rule")];
    const flagged = total(rows, (row) => counts(row.share));
    place.querySelector(".bars").innerHTML = bars(
      [
        ["The expert", expert, percent(expert, all, 1), "expert"],
        ["A single worker", single, percent(single, all, 1), ""],
        ["Your rule", flagged, percent(flagged, all, 1), ""],
      ],
      0.55 * all,
    );
    const said = groups.map(([label, words]) => {
      const part = rows.filter((row) => row.expert === label);
      const size = total(part, () => 1);
      const rate = percent(total(part, (row) => counts(row.share)), size);
      place.querySelector(`[data-of="${label}"]`).innerHTML =
        `<strong>${words}</strong> (${size} answers): your rule flags <strong>${rate}</strong>`;
      place.querySelector(`[data-dots="${label}"]`).innerHTML = part
        .map((row) => `<i style="--share:${row.share};--counts:${counts(row.share)}"></i>`.repeat(row.answers))
        .join("");
      return rate;
    });
    const points = (100 * (flagged - expert)) / all;
    place.querySelector("[role=status]").textContent =
      `Your rule ends ${Math.abs(points).toFixed(1)} points ${points < 0 ? "below" : "above"} the expert.`;
  }

  place.addEventListener("change", show);
  show();
}

function playRatings(place) {
  const rows = readTable("play-ratings");
  const aspects = ["factuality", "amount", "formality"];
  const levels = aspects.map((aspect) => [...new Set(rows.map((row) => row[aspect]))]);
  const start = [3, 0, 1];
  place.innerHTML =
    aspects.map((aspect, i) => choices(aspect, aspect, levels[i], start[i])).join("") +
    '<div class="bars"></div><p role="status"></p><div class="two">' +
    '<div><h3>What people said, in any tone</h3><div class="map"></div></div>' +
    '<div><h3>The tree (left: no, right: yes)</h3><div class="tree"></div></div></div>';

  function show() {
    const [fact, amount, tone] = aspects.map((aspect, i) => levels[i][chosen(place, aspect)]);
    const row = rows.find((each) => each.factuality === fact && each.amount === amount && each.formality === tone);
    place.querySelector(".bars").innerHTML = bars(
      [
        ["People", row.mean, row.mean.toFixed(1), "expert"],
        ["Tree", row.tree, row.tree.toFixed(1), ""],
        ["Weighted sum", row["weighted sum"], row["weighted sum"].toFixed(1), ""],
      ],
      3,
    );
    place.querySelector("[role=status]").textContent =
      `People: mean of ${row.ratings} ratings` + (row.ratings < FEW ? ", too few to rely on." : ".");
    drawMap(place.querySelector(".map"), rows, levels, fact, amount);
    drawTree(place.querySelector(".tree"), rows, row);
  }

  place.addEventListener("change", show);
  show();
}

function drawMap(map, rows, [facts, amounts], fact, amount) {
  let html = "<span></span>" + amounts.map((each) => `<span>${each}</span>`).join("");
  for (const right of [...facts].reverse()) {
    html += `<span class="row">${right}</span>`;
    for (const extent of amounts) {
      const cell = rows.filter((row) => row.factuality === right && row.amount === extent);
      const ratings = cell.reduce((sum, row) => sum + row.ratings, 0);
      const mean = cell.reduce((sum, row) => sum + row.ratings * row.mean, 0) / ratings;
      const here = right === fact && extent === amount ? " here" : "";
      html += `<span class="cell${here}" style="--points:${mean.toFixed(3)}">${mean.toFixed(2)}</span>`;
    }
  }
  map.innerHTML = html;
}

// Each row has its path: three questions with replies. Boxes are what paths share.
function drawTree(tree, rows, here) {
  const pathOf = (row) => row["questions of the tree"].split(", ");
  const asNumber = (row) => pathOf(row).map((step) => (step.endsWith("yes") ? 1 : 0)).join("");
  const leaves = [...new Map(rows.map((row) => [asNumber(row), row])).entries()].sort();
  let html = "";
  for (const level of [0, 1, 2]) {
    const boxes = new Map(leaves.map(([path, row]) => [path.slice(0, level), pathOf(row)[level]]));
    for (const [before, step] of boxes) {
      const on = asNumber(here).startsWith(before) ? "here" : "";
      html += `<span class="${on}" style="grid-column:span ${8 >> level}">${step.split(":")[0]}?</span>`;
    }
  }
  for (const [path, row] of leaves) {
    const on = path === asNumber(here) ? "here" : "";
    html += `<span class="${on}"><small>${path.endsWith("1") ? "yes" : "no"}</small>${row.tree.toFixed(1)}</span>`;
  }
  tree.innerHTML = html;
}

playAnswers(document.getElementById("play-answers"));
playRatings(document.getElementById("play-ratings"));
