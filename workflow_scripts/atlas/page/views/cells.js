/** The grid of heads itself: cells and their keys. */

import { Component, html, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { shortMarks } from "../lib/format.js";
import { corner, moved } from "../lib/layout.js";
import { hatched, headName, layersOf, sentence } from "../lib/measures.js";
import { onTop } from "../lib/scales.js";
import { useHover } from "./hooks.js";

/** Patterns of hatching, for light and for dark cells. */
export function Hatches() {
  return html`
    <defs>
      ${["dark", "light"].map(
        (on) => html`
          <pattern id=${`hatch-${on}`} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="1.3" height="5" fill=${on === "dark" ? "#ffffff" : "#000000"} fill-opacity="0.5" />
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

  render({ index, name, x, y, width, height, colour, light, missing, hatch, lightHatch, dim, stop, label, text, activate }) {
    const classes = ["cell", hatch && "hatched", dim && "faded", missing && "missing"];
    return html`
      <g role="gridcell" class=${classes.filter(Boolean).join(" ")} data-head=${name} data-index=${index}
        transform=${`translate(${x},${y})`} tabindex=${stop ? 0 : -1} aria-label=${label} onFocus=${() => activate(index)}>
        <rect class="fill" width=${width - 1} height=${height - 1} fill=${colour} data-light-fill=${light} />
        <rect class="hatch" width=${width - 1} height=${height - 1} fill=${hatch || "none"} data-light-fill=${lightHatch} />
        ${missing && html`<path class="none" d=${`M${width / 2 - 4} ${height / 2}h7`} />`}
        ${text && html`<text class=${onTop(colour) === "#000000" ? "inside" : "inside light"} x=${width / 2} y=${height / 2 + 3.5} data-light-fill=${light && onTop(light)}>${text}</text>`}
      </g>
    `;
  }
}

/** The outline of the head that is pointed at, here or in another picture. */
function Pointed({ model, place }) {
  const index = useHover();
  if (index < 0) return null;
  const [x, y] = corner(index, model, place);
  return html`<rect class="pointed no-save" x=${x - 1} y=${y - 1} width=${place.cell[0] + 1} height=${place.cell[1] + 1} />`;
}

/**
 * @param {{model, measure, place, colour, light, passes, open}} props  place: of lib/layout.js; colour, light: value ->
 *   colour, here and on a light page; passes: [head]; open(index)
 */
export function Cells({ model, measure, place, colour, light, passes, open }) {
  const { n_layers: layers, n_heads: heads } = model;
  const marks = useMemo(() => (measure.scale === "category" ? shortMarks(measure.categories) : null), [measure]);
  const inside = (index) => {
    const mark = marks?.[measure.value[index]] ?? null;
    return mark && mark.length * 7 < place.cell[0] - 4 ? mark : null;
  };
  const [stop, setStop] = useState((layers - 1) * heads);
  const area = useRef(null);
  const press = (event) => {
    const index = Number(event.target.dataset?.index ?? -1);
    if (index < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(event.key, index, model);
    if (next !== null) area.current.querySelector(`[data-index="${next}"]`).focus();
    else if (event.key === "Enter") open(index);
    else return;
    event.preventDefault();
  };
  const click = (event) => {
    const index = Number(event.target.closest("[data-index]")?.dataset.index ?? -1);
    if (index >= 0) open(index);
  };
  return html`
    <g ref=${area} class="cells" role="grid" aria-label=${`${measure.title} of every head; the top row is layer ${layersOf(model).at(-1).name}`} onKeyDown=${press} onClick=${click}>
      ${Array.from({ length: layers }, (_, below) => layers - 1 - below).map(
        (row) => html`
          <g role="row" aria-rowindex=${layers - row}>
            ${Array.from({ length: heads }, (_, column) => {
              const index = row * heads + column;
              const [x, y] = corner(index, model, place);
              const [value, hatch] = [measure.value[index], hatched(measure, index)];
              const [shown, paper] = [colour(value), light(value)];
              return html`
                <${Cell} ...${{ index, name: headName(model, index), x, y, width: place.cell[0], height: place.cell[1] }}
                  colour=${shown ?? "var(--missing)"} light=${paper ?? "#eceae5"} missing=${shown === null}
                  hatch=${hatch && shown ? hatchOn(shown) : false} lightHatch=${hatch && paper ? hatchOn(paper) : undefined}
                  dim=${!passes[index]} stop=${index === stop}
                  label=${sentence(model, measure, index)} text=${inside(index)} activate=${setStop} />
              `;
            })}
          </g>
        `,
      )}
      <${Pointed} ...${{ model, place }} />
    </g>
  `;
}
