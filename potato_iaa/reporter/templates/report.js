"use strict";
// The page is complete without this script, which sorts tables, filters disagreements and copies.

function sortKey(cell) {
  const text = cell.textContent.trim();
  // "1,234", "0.73", "[0.66, 0.78]", "4/4", "19 (1)", "82%"; a dash comes last.
  const found = text.replace(/(\d),(?=\d{3})/g, "$1").match(/^\[?(-?\d+(?:\.\d+)?)/);
  return found ? Number(found[1]) : null;
}

function compare(one, other, direction) {
  if (one.number !== null && other.number !== null) return direction * (one.number - other.number);
  if (one.number !== null) return -1;
  if (other.number !== null) return 1;
  return 0;
}

function sortBy(table, column, direction) {
  const body = table.tBodies[0];
  const numeric = table.tHead.rows[0].cells[column].classList.contains("num");
  const rows = Array.from(body.rows, (row) => {
    const cell = row.cells[column];
    return { row, text: cell.textContent.trim(), number: numeric ? sortKey(cell) : null };
  });
  rows.sort((one, other) =>
    numeric ? compare(one, other, direction) : direction * one.text.localeCompare(other.text));
  body.append(...rows.map((entry) => entry.row));
}

function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      sortBy(table, column, up ? 1 : -1);
    });
  });
}

function shared(pairs, one, other) {
  return pairs.some(([a, b]) =>
    (one === null || one === a || one === b) &&
    (other === null || other === a || other === b) &&
    (one === null || other === null || one !== other));
}

function makeFilter(browser) {
  const source = browser.querySelector(".data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const form = browser.querySelector(".filters");
  const told = form.querySelector("output");
  const articles = Array.from(browser.querySelectorAll("article"), (article) => ({
    article, rows: Array.from(article.querySelectorAll("[data-place]")) }));
  const chosen = (name) => {
    const value = form.querySelector(`[data-filter=${name}]`).value;
    return value === "" ? null : Number(value);
  };
  function filter() {
    const kind = chosen("kind"), label = chosen("label");
    const one = chosen("one"), other = chosen("other");
    let disagreements = 0, items = 0;
    for (const { article, rows } of articles) {
      let here = 0;
      for (const row of rows) {
        const [itsKind, labels, pairs] = data[Number(row.dataset.place)];
        row.hidden = !((kind === null || kind === itsKind) &&
          (label === null || labels.includes(label)) && shared(pairs, one, other));
        if (!row.hidden) here += 1;
      }
      article.hidden = here === 0;
      disagreements += here;
      if (here) items += 1;
    }
    told.textContent = `${disagreements} of ${data.length} disagreements, in ${items} texts`;
  }
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  form.reset();
  filter();
}

function select(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

function makeCopy(button) {
  const node = document.getElementById(button.dataset.copy);
  const paragraphs = Array.from(node.querySelectorAll("p"), (part) => part.textContent.trim());
  const text = paragraphs.length ? paragraphs.join("\n\n") : node.textContent.trim();
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      select(node);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".browser").forEach(makeFilter);
document.querySelectorAll("button.copy").forEach(makeCopy);
