/** Pictures as SVG or PNG files that stand alone, and numbers as CSV files. */

const SVG = "http://www.w3.org/2000/svg";
const FONT = "Helvetica, Arial, sans-serif";
const LINE = 15; // height of a line of text
const MARGIN = 12;
const NARROWEST = 360; // room for a title over a narrow picture
const SHARP = 3; // dots of a PNG for each pixel, so that it can be printed
// What the style sheet may set for an element of a picture.
const PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap",
  "stroke-linejoin", "opacity", "font-size", "font-weight", "font-style", "font-variant-numeric", "text-anchor",
  "dominant-baseline", "letter-spacing", "mix-blend-mode", "writing-mode",
];

/**
 * Download a picture in light colours, its styles written into it.
 *
 * Elements of class `no-save` are left out. Where a colour is set by the script, an element gives the
 * light one as `data-light-fill` or `data-light-stroke`.
 * @param {SVGSVGElement} svg  on the page
 * @param {string} name  of the file, without its ending
 * @param {{title?: string, notes?: string[], below?: SVGSVGElement[]}} around  a title over the picture,
 *   pictures under it (a legend), and sentences at the bottom
 * @param {"svg"|"png"} type
 */
export async function saveImage(svg, name, around, type) {
  const text = svgText(svg, around);
  if (type === "svg") return download(`${name}.svg`, new Blob([text], { type: "image/svg+xml;charset=utf-8" }));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: SHARP * image.width, height: SHARP * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => download(`${name}.png`, blob));
}

/** The text of an SVG file. */
function svgText(svg, { title = "", notes = [], below = [] } = {}) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  try {
    const pictures = [svg, ...below].filter(Boolean).map(alone);
    const room = Math.max(NARROWEST, ...pictures.map((picture) => picture.width));
    const heading = title ? wrapped(title, room, (words) => textWidth(words, 13, 600)) : [];
    const small = notes.flatMap((note) => wrapped(note, room, (words) => textWidth(words, 10)));
    const widths = [...heading.map((line) => textWidth(line, 13, 600)), ...small.map((line) => textWidth(line, 10))];
    const width = Math.ceil(Math.max(room, ...widths)) + 2 * MARGIN;
    const whole = document.createElementNS(SVG, "svg");
    let top = MARGIN;
    for (const line of heading) {
      whole.append(text(line, top + 11, 13, 600));
      top += LINE;
    }
    if (title) top += 7;
    for (const { element, height } of pictures) {
      element.setAttribute("x", MARGIN);
      element.setAttribute("y", top);
      whole.append(element);
      top += height + 8;
    }
    for (const line of small) {
      whole.append(text(line, top + 9, 10, 400));
      top += LINE - 1;
    }
    const height = top + MARGIN;
    const ground = document.createElementNS(SVG, "rect");
    Object.entries({ width, height, fill: "#ffffff" }).forEach(([key, value]) => ground.setAttribute(key, value));
    whole.prepend(ground);
    Object.entries({ xmlns: SVG, width, height, viewBox: `0 0 ${width} ${height}`, "font-family": FONT }).forEach(
      ([key, value]) => whole.setAttribute(key, value),
    );
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}\n`;
  } finally {
    root.dataset.theme = theme;
  }
}

// A copy with the styles that the page gives it.
function alone(svg) {
  const copy = svg.cloneNode(true);
  const [from, to] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, index) => dress(element, to[index]));
  copy.querySelectorAll(".no-save").forEach((element) => element.remove());
  const box = svg.viewBox.baseVal;
  const [width, height] = box && box.width ? [box.width, box.height] : [svg.clientWidth, svg.clientHeight];
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  return { element: copy, width, height };
}

function dress(element, copy) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") copy.classList.add("no-save");
  for (const property of PROPERTIES) {
    const value = style.getPropertyValue(property);
    if (value && !(value === "none" && property !== "fill")) copy.setAttribute(property, value);
  }
  for (const property of ["fill", "stroke"]) {
    const light = element.getAttribute(`data-light-${property}`);
    if (light) copy.setAttribute(property, light);
  }
  for (const name of copy.getAttributeNames()) {
    if (/^(style|tabindex|role|class|aria-|data-|on)/.test(name) && !copy.classList.contains("no-save")) {
      copy.removeAttribute(name);
    }
  }
}

function text(words, y, size, weight) {
  const element = document.createElementNS(SVG, "text");
  Object.entries({ x: MARGIN, y, "font-size": size, "font-weight": weight, fill: "#1a1a1a" }).forEach(([key, value]) =>
    element.setAttribute(key, value),
  );
  element.textContent = words;
  return element;
}

let context = null;

/** Pixels that words take in a saved picture; the widest of the fonts that may show it. */
export function textWidth(words, size, weight = 400) {
  context ??= document.createElement("canvas").getContext("2d");
  return Math.max(...["Helvetica, Arial, sans-serif", "DejaVu Sans, sans-serif"].map((family) => {
    context.font = `${weight} ${size}px ${family}`;
    return context.measureText(words).width;
  }));
}

/** A sentence in lines of at most `width`, longer words whole; `measured` is a line's width, by default its letters. */
export function wrapped(sentence, width, measured = (line) => line.length) {
  const lines = [""];
  for (const word of sentence.split(/\s+/)) {
    const last = lines.at(-1);
    if (last && measured(`${last} ${word}`) > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

/**
 * Download rows as CSV.
 * @param {object[]} rows  the first one's keys are the columns
 * @param {string} name  of the file, without its ending
 */
export function saveCsv(rows, name) {
  download(`${name}.csv`, new Blob([csvText(rows)], { type: "text/csv;charset=utf-8" }));
}

/** Rows as CSV (RFC 4180): null and undefined are empty, numbers are written in full, a quote stands before what begins with `=`, which would be a formula. */
export function csvText(rows) {
  const columns = Object.keys(rows[0] ?? {});
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
  const written = String(value ?? "");
  const text = written.startsWith("=") ? `'${written}` : written; // as in core/data/tables.py
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
