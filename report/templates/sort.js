"use strict";
// Tables can be sorted by their headings, group by group; a third press restores the order.
for (const table of document.querySelectorAll("table.sortable")) {
  const bodies = [...table.tBodies].map((body) => [body, [...body.rows]]);
  // A long text below a row goes where its row goes.
  const below = new Map();
  for (const [, rows] of bodies) {
    rows.forEach((row, at) => {
      if (row.classList.contains("said")) below.set(rows[at - 1], row);
    });
  }
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, at) => {
    const cell = row.cells[at];
    const exact = cell.getAttribute("data-sort");
    const text = cell.textContent.trim();
    if (exact !== null) return Number(exact);
    return text === "" || text === "\u2013" ? null : text;
  };
  const compare = (one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    return String(one).localeCompare(String(other), "en", { numeric: true });
  };
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const was = head.getAttribute("aria-sort");
      for (const each of heads) each.removeAttribute("aria-sort");
      const next = { ascending: "descending", descending: "" }[was] ?? "ascending";
      if (next) head.setAttribute("aria-sort", next);
      for (const [body, rows] of bodies) {
        const data = rows.filter((row) => !row.matches(".group, .said"));
        const known = data.filter((row) => key(row, at) !== null);
        const unknown = data.filter((row) => key(row, at) === null);
        const turn = next === "descending" ? -1 : 1;
        if (next) known.sort((one, other) => turn * compare(key(one, at), key(other, at)));
        const order = next ? [...known, ...unknown] : data;
        const whole = order.flatMap((row) => (below.has(row) ? [row, below.get(row)] : [row]));
        body.append(...rows.filter((row) => row.classList.contains("group")), ...whole);
      }
    });
  });
}
// What a link leads to may be folded away.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let each = target; each; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) each.open = true;
  }
  if (target) target.scrollIntoView();
};
addEventListener("hashchange", unfold);
if (location.hash) unfold();
