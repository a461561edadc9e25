/** The grid of heads itself: cells, their keys, and selecting by dragging. */

import { Component, html, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { shortMarks } from "../lib/format.js";
import { between, corner, slotAt, slotOf } from "../lib/layout.js";
import { hatched, headName, layersOf, sentence } from "../lib/measures.js";
import { badgesAt, placedMarks } from "../lib/roles.js";
import { onTop } from "../lib/scales.js";
import { useHover } from "./hooks.js";
import { CellMarks } from "./roles.js";

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] };

/** Patterns of hatching, for light and for dark cells. */
export function Hatches() {
  return html`
    <defs>
      ${["dark", "light"].map(
        (on) => html`
          <pattern id=${`hatch-${on}`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="1.3" height="5" fill=${on === "dark" ? "#ffffff" : "#000000"} fill-opacity="0.85" />
          </pattern>
        `,
      )}
    </defs>
  `;
}

/** Which hatching is seen on a colour. */
function hatchOn(colour) {
  return `url(#hatch-${onTop(colour) === "#ffffff" ? "dark" : "light"})`;
}

/** One head, which listens to its own focus: a listener would make the whole grid a stop of the Tab key. It is drawn again only where what it shows has changed. */
class Cell extends Component {
  shouldComponentUpdate(next) {
    return Object.keys(next).some((key) => next[key] !== this.props[key]);
  }

  render({ index, name, x, y, width, height, colour, light, missing, hatch, lightHatch, dim, selected, stop, label, text, roles, activate }) {
    const marks = roles.length > 0 ? placedMarks(roles.map(({ mark }) => mark), width) : [];
    const room = (marks[0]?.x ?? width) - 1;
    const classes = ["cell", hatch && "hatched", dim && "faded", selected && "selected", missing && "missing"];
    return html`
      <g role="gridcell" class=${classes.filter(Boolean).join(" ")} data-head=${name} data-index=${index}
        transform=${`translate(${x},${y})`} tabindex=${stop ? 0 : -1} aria-label=${label} aria-selected=${selected ? "true" : "false"} onFocus=${() => activate(index)}>
        <rect class="fill" width=${width - 1} height=${height - 1} fill=${colour} data-light-fill=${light} />
        <rect class="hatch" width=${width - 1} height=${height - 1} fill=${hatch || "none"} data-light-fill=${lightHatch} />
        ${missing && html`<path class="none" d=${`M${width / 2 - 4} ${height / 2}h7`} />`}
        ${selected && html`<rect class="frame" x="0.5" y="0.5" width=${width - 2} height=${height - 2} />`}
        ${text && room > 7 * text.length && html`<text class=${missing || onTop(colour) === "#000000" ? "inside" : "inside light"} x=${room / 2} y=${height / 2 + 3.5} data-light-fill=${light && onTop(light)}>${text}</text>`}
        ${roles.length > 0 && html`<${CellMarks} placed=${marks} width=${width} />`}
      </g>
    `;
  }
}

/** The outline of the head that is pointed at, here or in another picture. */
function Pointed({ order, place }) {
  const slot = slotOf(useHover(), order);
  if (!slot) return null;
  const [x, y] = corner(slot, place);
  return html`<rect class="pointed no-save" x=${x - 1} y=${y - 1} width=${place.cell[0] + 1} height=${place.cell[1] + 1} />`;
}

/**
 * @param {{model, measure, place, order, colour, light, passes, selected, numbers, open, select}} props
 *   place: of lib/layout.js; order: heads as [row][column]; colour, light: value -> colour, here and on a
 *   light page; passes: [head]; selected: a set; numbers: whether heads' numbers stand in the cells, else marks of categories;
 *   open(index), select(indices)
 */
export function Cells({ model, measure, place, order, colour, light, passes, selected, numbers, open, select }) {
  const marks = useMemo(() => (measure.scale === "category" ? shortMarks(measure.categories) : null), [measure]);
  const inside = (index) => {
    if (numbers) return place.cell[0] > 15 ? String((index % model.n_heads) + 1) : null;
    const mark = marks?.[measure.value[index]] ?? null;
    return mark && mark.length * 7 < place.cell[0] - 4 ? mark : null;
  };
  const [active, setActive] = useState(order.at(-1)[0]);
  const [drag, setDrag] = useState(null);
  const area = useRef(null);
  const anchor = useRef(null);
  const stop = slotOf(active, order) ? active : order[0][0];
  const focus = (index) => area.current.querySelector(`[data-index="${index}"]`)?.focus();

  const press = (event) => {
    const index = Number(event.target.dataset?.index ?? -1);
    const slot = slotOf(index, order);
    if (!slot || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, slot, order);
    if (next) {
      focus(order[next[0]][next[1]]);
      if (event.shiftKey) {
        anchor.current ??= slot;
        select(between(anchor.current, next, order), true);
      } else anchor.current = null;
    } else if (event.key === "Enter") open(index);
    else if (event.key === " ") select(toggled(selected, index));
    else if (event.key === "Escape" && selected.size) select([]);
    else return;
    event.preventDefault();
  };
  const at = (event) => {
    const box = area.current.ownerSVGElement.getBoundingClientRect();
    return slotAt({ x: event.clientX - box.left, y: event.clientY - box.top }, place, model);
  };
  const start = (event) => {
    if (event.button === 0 && event.pointerType !== "touch") setDrag({ from: at(event), to: at(event) });
  };
  const follow = (event) => {
    if (drag) setDrag({ ...drag, to: at(event) });
  };
  const end = () => {
    if (drag && `${drag.from}` !== `${drag.to}`) select(between(drag.from, drag.to, order));
    setDrag(null);
  };
  const click = (event) => {
    const index = Number(event.target.closest("[data-index]")?.dataset.index ?? -1);
    if (index < 0) return; // the end of a drag
    if (event.shiftKey || event.ctrlKey || event.metaKey) select(toggled(selected, index));
    else open(index);
  };
  return html`
    <g ref=${area} class="cells" role="grid" aria-multiselectable="true" aria-label=${`${measure.title} of every head; the top row is layer ${layersOf(model).at(-1).name}`}
      onKeyDown=${press} onPointerDown=${start} onPointerMove=${follow} onPointerUp=${end}
      onPointerCancel=${() => setDrag(null)} onPointerLeave=${end} onClick=${click}>
      ${order
        .map((heads, row) => [row, heads])
        .toReversed()
        .map(
          ([row, heads]) => html`
            <g role="row" aria-rowindex=${order.length - row}>
              ${heads.map((index, column) => {
                const [x, y] = corner([row, column], place);
                const [value, hatch] = [measure.value[index], hatched(measure, index)];
                const [shown, paper] = [colour(value), light(value)];
                return html`
                  <${Cell} ...${{ index, name: headName(model, index), x, y, width: place.cell[0], height: place.cell[1] }}
                    colour=${shown ?? "var(--missing)"} light=${paper ?? "#eceae5"} missing=${shown === null}
                    hatch=${hatch && shown ? hatchOn(shown) : false} lightHatch=${hatch && paper ? hatchOn(paper) : undefined}
                    dim=${!passes[index]} selected=${selected.has(index)} stop=${index === stop}
                    label=${sentence(model, measure, index)} text=${inside(index)} roles=${badgesAt(model, index)} activate=${setActive} />
                `;
              })}
            </g>
          `,
        )}
      <${Pointed} ...${{ order, place }} />
      ${drag && html`<${Rectangle} ...${{ drag, place }} />`}
    </g>
  `;
}

function Rectangle({ drag: { from, to }, place }) {
  const [left, top] = corner([Math.max(from[0], to[0]), Math.min(from[1], to[1])], place);
  const width = (Math.abs(from[1] - to[1]) + 1) * place.cell[0];
  const height = (Math.abs(from[0] - to[0]) + 1) * place.cell[1];
  return html`<rect class="dragged no-save" x=${left - 1} y=${top - 1} width=${width + 1} height=${height + 1} />`;
}

// The cell that a key leads to, or null for another key.
function moved(key, [row, column], order) {
  const last = order[row].length - 1;
  if (key === "Home" || key === "End") return [row, key === "Home" ? 0 : last];
  if (!STEPS[key]) return null;
  const [up, right] = STEPS[key];
  return [Math.min(order.length - 1, Math.max(0, row + up)), Math.min(last, Math.max(0, column + right))];
}

function toggled(selected, index) {
  const next = new Set(selected);
  if (!next.delete(index)) next.add(index);
  return next;
}
