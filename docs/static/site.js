// Filters, order and addresses of the table of claims; the button that unfolds all code.
const table = document.getElementById("claim-table");
if (table) {
  const form = document.getElementById("filters");
  const more = document.getElementById("more");
  const found = document.getElementById("found");
  const body = table.tBodies[0];
  let rows = [...body.rows];
  const text = new Map(rows.map((row) => [row, `${row.id} ${row.textContent}`.toLowerCase()]));
  const page = 50;
  let shown = page;

  const fits = (row, wanted) => wanted.every(([name, value]) =>
    name === "q" ? value.toLowerCase().split(/\s+/).every((word) => text.get(row).includes(word)) : row.dataset[name].split("|").includes(value));

  function show() {
    const wanted = [...new FormData(form)].filter(([, value]) => value.trim());
    const kept = rows.filter((row) => fits(row, wanted));
    const visible = new Set(kept.slice(0, shown));
    for (const row of rows) row.hidden = !visible.has(row) && !row.classList.contains("chosen");
    found.textContent = `${kept.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} claims` + (kept.length > shown ? `, the first ${shown} shown` : "");
    more.hidden = kept.length <= shown;
    return wanted;
  }

  function follow() {
    const address = decodeURIComponent(location.hash.slice(1));
    const row = document.getElementById(address);
    for (const other of rows) other.classList.toggle("chosen", other === row);
    if (rows.includes(row)) for (const field of form.elements) if (field.name) field.value = "";
    if (!row && address.includes("=")) {
      form.reset();
      for (const [name, value] of new URLSearchParams(address)) if (form.elements[name]) form.elements[name].value = value;
    }
    show();
    if (rows.includes(row)) {
      row.querySelector("details").open = true;
      row.scrollIntoView({ block: "center" });
    }
  }

  form.addEventListener("input", () => {
    shown = page;
    const wanted = show();
    history.replaceState(null, "", wanted.length ? `#${new URLSearchParams(wanted)}` : location.pathname.split("/").pop());
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => form.dispatchEvent(new Event("input"))));
  more.addEventListener("click", () => { shown += 200; show(); });
  table.tHead.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => row.cells[head.cellIndex].dataset.order ?? row.cells[head.cellIndex].textContent.trim();
    rows.sort((a, b) => (down ? -1 : 1) * key(a).localeCompare(key(b), "en", { numeric: true }));
    body.append(...rows);
    show();
  });
  for (const details of body.querySelectorAll("details")) {
    details.addEventListener("toggle", () => {
      if (details.open && !details.closest("tr").classList.contains("chosen"))
        history.replaceState(null, "", `#${details.closest("tr").id}`);
    });
  }
  addEventListener("hashchange", follow);
  follow();
}

// Code is folded: one button shows that of the page, one in each section that of the section.
const buttons = [];
function unfold(button, folds, open) {
  for (const fold of folds) fold.open = open;
  button.textContent = button.textContent.replace(/^\w+/, open ? "hide" : "show");
  button.setAttribute("aria-expanded", open);
}

const folds = [...document.querySelectorAll("details.hide")];
if (folds.length) {
  document.body.classList.add("one-button");
  const bySection = new Map();
  for (const fold of folds) {
    const section = fold.closest("section");
    bySection.set(section, [...(bySection.get(section) ?? []), fold]);
  }
  for (const [section, inside] of bySection) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "section-code";
    button.textContent = "show code";
    button.addEventListener("click", () => unfold(button, inside, button.textContent.startsWith("show")));
    unfold(button, inside, false);
    // that of the first section, of imports and parameters, does not belong to the title
    (section.querySelector(":scope > :is(h2, h3, h4)") ?? inside[0]).before(button);
    buttons.push([button, inside]);
  }
}
for (const button of document.querySelectorAll(".show-code")) {
  button.hidden = !folds.length;
  button.addEventListener("click", () => {
    const open = button.textContent.startsWith("show");
    unfold(button, folds, open);
    for (const [other, inside] of buttons) unfold(other, inside, open);
  });
}

// An address that names a cell shows its code.
function openCell() {
  const cell = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!cell?.matches(".cell")) return;
  const fold = cell.querySelector("details.hide");
  if (fold) fold.open = true;
  cell.scrollIntoView();
}
addEventListener("hashchange", openCell);
openCell();

for (const fold of document.querySelectorAll("li.has-children > details > summary:not([aria-label])"))
  fold.setAttribute("aria-label", `pages of ${fold.closest("li").querySelector("a").textContent.trim()}`);

for (const table of document.querySelectorAll(".cell_output table:has(td:first-child)"))
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) cell.dataset.label = table.tHead.rows[0].cells[cell.cellIndex].textContent.trim();

// A table that does not fit, or whose sentences stand in narrow columns, uses the empty
// side of a wide screen; the theme hides the list of sections while one is in sight.
const LINES = 5; // of a cell
const LETTER = 7; // pixels
const isSqueezed = (box) =>
  box.scrollWidth > box.clientWidth ||
  [...box.querySelectorAll("td")].some((cell) => cell.textContent.length * LETTER > LINES * cell.clientWidth);
if (matchMedia("(min-width: 1200px)").matches)
  for (const box of document.querySelectorAll(".bd-article :is(.text_html, .pst-scrollable-table-container, .scroll):has(> table)"))
    if (isSqueezed(box)) {
      box.style.maxWidth = `${document.documentElement.clientWidth - box.getBoundingClientRect().left - 24}px`;
      box.classList.add("full-width");
    }

for (const box of document.querySelectorAll(".bd-article p:has(> img), .bd-article :is(.cell_output, .text_html, .scroll), .pst-scrollable-table-container"))
  if (box.scrollWidth > box.clientWidth && !box.querySelector(".full-width")) {
    box.tabIndex = 0;
    box.classList.add("wider");
  }
