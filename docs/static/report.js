// Tables of the replication report: filter rows, sort by a column, link to a row.
// The filter stands in the address, so that a page opened again shows the same rows.

function addFilter(article, tables) {
  const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
  const box = document.createElement("p");
  box.className = "report-filter";
  box.innerHTML =
    '<label for="report-filter">Show rows with</label>' +
    '<input id="report-filter" type="search" placeholder="refusal, supported, §4.1 …">' +
    '<output aria-live="polite"></output>';
  article.querySelector("h2").before(box);
  const field = box.querySelector("input");
  const count = box.querySelector("output");
  const texts = rows.map((row) => row.textContent.toLowerCase());

  function filter() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((word) => texts[i].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    for (const table of tables) {
      table.hidden = [...table.tBodies[0].rows].every((row) => row.hidden);
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : "";
  }

  function remember() {
    const address = new URL(location);
    if (field.value) address.searchParams.set("rows", field.value);
    else address.searchParams.delete("rows");
    address.hash = "";
    history.replaceState(null, "", address);
  }

  field.value = new URL(location).searchParams.get("rows") || "";
  field.addEventListener("input", () => {
    filter();
    remember();
  });
  filter();
}

function makeSortable(table) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => row.cells[column].textContent.trim();
      const sorted = [...body.rows].sort((a, b) =>
        key(a).localeCompare(key(b), "en", { numeric: true }),
      );
      body.append(...(rising ? sorted : sorted.reverse()));
    });
  });
}

function addAddresses(article) {
  for (const mark of article.querySelectorAll("td span[id]")) {
    const link = document.createElement("a");
    link.href = `#${mark.id}`;
    link.textContent = "#";
    link.setAttribute("aria-label", "Address of this row");
    mark.after(link, " ");
  }
}

document.addEventListener("DOMContentLoaded", () => {
  const article = document.querySelector("article");
  const tables = [...article.querySelectorAll("table")];
  addAddresses(article);
  tables.forEach(makeSortable);
  addFilter(article, tables);
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
