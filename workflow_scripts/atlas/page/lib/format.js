/** Numbers as people read them. */

/**
 * With a true minus, and without the minus of a zero.
 * @param {number|null} value
 * @param {number} decimals
 * @returns {string}
 */
export function number(value, decimals) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** A text with a true minus before its numbers, though not in the name of a head: "best fixed offset, −1", "(−2.5)", "3-7". */
export function withMinus(text) {
  return text.replace(/(?<![\p{L}\p{N}.-])-(?=\d)/gu, "−");
}

/** A p-value: "0.031", "< 0.001", "> 0.99". */
export function pValue(p) {
  if (p === null || p === undefined) return "–";
  if (p > 0.99) return "> 0.99";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** "p = 0.031", "p < 0.001". */
export function pText(p) {
  const text = pValue(p);
  return /^[<>]/.test(text) ? `p ${text}` : `p = ${text}`;
}

/** With a capital first letter. */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "1 head", "7 heads". */
export function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/**
 * Short marks that distinguish names: the first letters, as many as it takes; of several words those of the first
 * that no other name begins with.
 * @param {string[]} names
 * @returns {string[]}
 */
export function shortMarks(names) {
  const longest = Math.max(...names.map((name) => name.length));
  for (let length = 1; length < longest; length++) {
    const begin = (word) => Array.from(word).slice(0, length).join("");
    const marks = names.map((name) => name.split("+").map((part) => {
      const words = part.trim().split(/\s+/).map(begin);
      const taken = names.filter((other) => other !== name).map(begin);
      return words.find((word) => !taken.includes(word)) ?? words[0];
    }).join("+"));
    if (new Set(marks).size === names.length) return marks;
  }
  return names;
}
