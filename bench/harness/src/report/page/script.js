// A table is sorted by the heading that is pressed; a filter that is pressed stands out in all pictures.
for (const table of document.querySelectorAll("table")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => asButton(heading, () => sort(table, headings, column)));
  for (const row of table.tBodies[0].rows) {
    asButton(row.cells[0], () => pick(row.dataset.spec));
  }
}
for (const drawn of document.querySelectorAll("svg [data-spec]")) {
  drawn.addEventListener("click", () => pick(drawn.dataset.spec));
}
document.addEventListener("keydown", event => event.key === "Escape" && pick(undefined));

/** Puts what is in `cell` into a button. */
function asButton(cell, pressed) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...cell.childNodes);
  button.addEventListener("click", pressed);
  cell.append(button);
}

/** Sorts by a column; a second time the other way. Cells without a value come last. */
function sort(table, headings, column) {
  const heading = headings[column];
  const way = heading.ariaSort === "ascending" ? -1 : 1;
  headings.forEach(other => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
  const value = row => row.cells[column]?.dataset.value ?? (column === 0 ? row.dataset.spec : "");
  const order = (left, right) => {
    const [a, b] = [value(left), value(right)];
    if (a === "" || b === "") return (a === "") - (b === "");
    return way * (column === 0 ? a.localeCompare(b) : a - b);
  };
  table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
}

/** Makes one filter stand out; the same once more, or none, ends that. */
function pick(spec) {
  const chosen = document.body.dataset.picked === spec ? undefined : spec;
  if (chosen === undefined) delete document.body.dataset.picked;
  else document.body.dataset.picked = chosen;
  document.body.classList.toggle("picking", chosen !== undefined);
  for (const shown of document.querySelectorAll("[data-spec]")) {
    shown.classList.toggle("picked", shown.dataset.spec === chosen);
  }
}
