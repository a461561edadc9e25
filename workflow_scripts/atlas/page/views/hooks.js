/** What several views need: the head under the pointer, and the width they have. */

import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/standalone.module.js";

/** The head that is pointed at or focused, -1 for none; one for the whole page. */
let hovered = -1;
const listeners = new Set();

function hover(index) {
  hovered = index;
  listeners.forEach((listener) => listener(index));
}

/** The head that is pointed at; only the component that calls this is drawn again. */
export function useHover() {
  const [index, setIndex] = useState(hovered);
  useEffect(() => {
    listeners.add(setIndex);
    return () => listeners.delete(setIndex);
  }, []);
  return index;
}

/**
 * Handlers for an element whose parts carry the head's index as `data-index`. They follow moves, not what
 * comes to lie under a pointer at rest, and the focus only where it is seen.
 */
export function pointing() {
  const to = ({ target }) => hover(Number(target.closest("[data-index]")?.dataset.index ?? -1));
  return {
    onPointerMove: to,
    onPointerLeave: () => hover(-1),
    onfocusin: (event) => event.target.matches(":focus-visible") && to(event),
    onfocusout: () => hover(-1),
  };
}

/** A ref for an element, and the width that it has. */
export function useWidth(start) {
  const element = useRef(null);
  const [width, setWidth] = useState(start);
  useLayoutEffect(() => {
    const measured = () => setWidth(Math.floor(element.current.clientWidth) || start);
    measured();
    const observer = new ResizeObserver(measured);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

const WITHOUT_HEADS = ["head", "compare", "claims", "figures", "about"];

/**
 * After a change of view, show its top, or where it was left by Back, and put a focus that was lost on its heading, or, after a card, on its head.
 * @param {{current: HTMLElement}} main
 * @param {string} view
 * @param {number} index  of the head in the address, -1 for none
 * @param {string} opening  the view that a card leads back to where it was the first
 * @returns {string}  the view of all heads that was shown last, to which a card leads back
 */
export function useEntrance(main, view, index, opening) {
  const before = useRef(view);
  const from = useRef(opening);
  if (!WITHOUT_HEADS.includes(view)) from.current = view;
  useLayoutEffect(() => {
    if (before.current === view) return;
    const head = before.current === "head" ? headIn(main.current, index) : null;
    before.current = view;
    scrollTo(0, history.state?.top ?? 0);
    if (document.activeElement !== document.body) return;
    const heading = main.current.querySelector("h2");
    if (!head && heading) heading.tabIndex = -1;
    if (head) head.focus();
    else heading?.focus({ preventScroll: true });
  }, [view]);
  useEffect(() => {
    const remember = () => history.replaceState({ top: scrollY }, "");
    addEventListener("scrollend", remember);
    return () => removeEventListener("scrollend", remember);
  }, []);
  return from.current;
}

// What stands for a head and can have the focus: a cell, a map, a button in a row.
function headIn(main, index) {
  const element = main.querySelector(`[data-index="${index}"]`);
  return element?.matches("[tabindex]") ? element : element?.querySelector("button");
}
