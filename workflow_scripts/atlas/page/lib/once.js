/** Remembering what was computed from an object that does not change. */

/**
 * The same function, computed once for each object.
 * @param {function(object): *} compute
 * @returns {function(object): *}
 */
export function once(compute) {
  const found = new WeakMap();
  return (given) => {
    if (!found.has(given)) found.set(given, compute(given));
    return found.get(given);
  };
}
