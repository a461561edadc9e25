// A table that sorts, filters, groups and saves itself. The rows stand in the page already.

/** What a cell is sorted by: a number where it is one, else its text; nothing where it is empty. */
export function sortKey(text) {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
}

/** Numbers before texts, heads such as 2-10 by their numbers, empty cells last in both orders. */
export function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  return direction === "descending" ? -order : order;
}

/** The rows, each with its cells' `keys`, in the order of a column; rows that are equal stay. */
export function sorted(rows, column, direction) {
  return [...rows].sort((a, b) => compare(a.keys[column], b.keys[column], direction));
}

/** Whether a row has all words of `filter` in its text, and every chosen value in its column. */
export function matches(row, filter, chosen) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const text = row.text.toLowerCase();
  const values = Object.entries(chosen).every(([column, value]) => value === "" || row.texts[column] === value);
  return values && words.every((word) => text.includes(word));
}

/** The rows by their text in a column: [text, rows], in the order by which the column is sorted. */
export function grouped(rows, column) {
  const groups = new Map();
  for (const row of rows) {
    const name = row.texts[column];
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].sort(([, a], [, b]) => compare(a[0].keys[column], b[0].keys[column], "ascending"));
}

/** Where the page stands: alone among the results, in an unpacked report, or inside a report file. */
export function placeOf(location) {
  if (["data:", "blob:"].includes(location.protocol)) return "inside";
  return /\/data\/raw\/[0-9a-f]{16}\/[^/]+$/.test(location.pathname) ? "unpacked" : "alone";
}

function readRow(element) {
  const cells = [...element.cells];
  const texts = cells.map((cell) => (cell.querySelector(".badge") ?? cell.firstChild)?.textContent.trim() ?? "");
  const keys = cells.map((cell, column) => sortKey(cell.dataset.sort ?? texts[column]));
  return { element, texts, keys, text: element.textContent };
}

function heading(text, count, columns) {
  const row = document.createElement("tr");
  row.className = "group";
  const cell = document.createElement("th");
  cell.colSpan = columns;
  cell.scope = "rowgroup";
  cell.textContent = `${text || "none"} (${count})`;
  row.append(cell);
  return row;
}

function save(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A link of a page inside a report file: the report's front page opens it, or the place in the menu is stated. */
function openInside(link) {
  const note = document.querySelector("#note");
  const wait = setTimeout(() => {
    note.textContent = `Open it from the report's menu: ${link.dataset.menu}.`;
    note.hidden = false;
  }, 400);
  addEventListener("message", () => clearTimeout(wait), { once: true });
  parent.postMessage({ open: link.dataset.path, fragment: link.dataset.fragment }, "*");
}

function prepareLinks() {
  const place = placeOf(location);
  for (const link of document.querySelectorAll("td a")) {
    if (place === "unpacked" && link.dataset.report) link.href = link.dataset.report;
    if (place === "inside") {
      link.href = "#";
      link.addEventListener("click", (event) => {
        event.preventDefault();
        openInside(link);
      });
    }
  }
}

function start() {
  const body = document.querySelector("tbody");
  const heads = [...document.querySelectorAll("thead th")];
  const rows = [...body.rows].map(readRow);
  const filter = document.querySelector("#filter");
  const facets = [...document.querySelectorAll(".facet")];
  const group = document.querySelector("#group");
  const order = { column: -1, direction: "none" };
  const columnOf = (name) => heads.findIndex((head) => head.dataset.name === name);

  function show() {
    const chosen = Object.fromEntries(facets.map((facet) => [columnOf(facet.dataset.name), facet.value]));
    const found = rows.filter((row) => matches(row, filter.value, chosen));
    const inOrder = order.column < 0 ? found : sorted(found, order.column, order.direction);
    const by = group?.value ? columnOf(group.value) : -1;
    const groups = by < 0 ? [["", inOrder]] : grouped(inOrder, by);
    body.replaceChildren(
      ...groups.flatMap(([name, members]) => [
        ...(by < 0 ? [] : [heading(name, members.length, heads.length)]),
        ...members.map((row) => row.element),
      ]),
    );
    const all = `${rows.length} row${rows.length === 1 ? "" : "s"}`;
    document.querySelector("#count").textContent = found.length === rows.length ? all : `${found.length} of ${all}`;
  }

  for (const facet of facets) {
    const column = columnOf(facet.dataset.name);
    for (const [value, members] of grouped(rows, column)) {
      facet.add(new Option(`${value || "none"} (${members.length})`, value));
    }
    facet.addEventListener("change", show);
  }
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const next = { ascending: "descending", descending: "none", none: "ascending" };
      order.direction = next[head.ariaSort ?? "none"];
      order.column = order.direction === "none" ? -1 : column;
      heads.forEach((other) => (other.ariaSort = other === head ? order.direction : "none"));
      show();
    });
  });
  filter.addEventListener("input", show);
  group?.addEventListener("change", show);
  const files = JSON.parse(document.querySelector("#files").textContent);
  for (const button of document.querySelectorAll(".save")) {
    const { name, ending } = button.dataset;
    button.addEventListener("click", () => save(files[ending], `${name}.${ending}`));
  }
  document.querySelector("#theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    root.dataset.theme = dark === "dark" ? "light" : "dark";
  });
  prepareLinks();
  show();
}

if (globalThis.document) start();
