/** Tokens as people can read them. */

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u00a0\u115f\u1160\u3164]/gu;

/**
 * A token with its invisible characters written out, so that none of them acts on the page.
 * @param {string} token
 * @returns {string}
 */
export function shown(token) {
  if (token === "") return "(empty)";
  const written = token
    .replace(INVISIBLE, (letter) => {
      const code = letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      return `\u27e8${code}\u27e9`;
    })
    .replace(/ /g, "\u2423");
  return /^\p{M}/u.test(written) ? `\u25cc${written}` : written;
}

/**
 * At most `letters` letters of a token, the last one then an ellipsis.
 * @param {string} token
 * @param {number} letters
 * @returns {string}
 */
export function shortened(token, letters) {
  const all = Array.from(shown(token));
  return all.length > letters ? `${all.slice(0, letters - 1).join("")}\u2026` : all.join("");
}
