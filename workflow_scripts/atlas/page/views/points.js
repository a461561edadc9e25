/** The scatter plot itself. */

import { html, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { along, placeOf, reach } from "../lib/cloud.js";
import { number } from "../lib/format.js";
import { headName, intervalOf, valueText } from "../lib/measures.js";
import { fileName, headColumns, measureRows } from "../lib/rows.js";
import { saveImage } from "../lib/save.js";
import { colours, tickDecimals, ticks } from "../lib/scales.js";
import { pointing, useHover, useWidth } from "./hooks.js";
import { SaveCsv, SavePicture } from "./saves.js";
import { Tooltip } from "./tooltip.js";

const [TOP, RIGHT, BOTTOM] = [12, 12, 48];
const RADIUS = 4.5;

/** @param {{heads, x, y, colour: object|null, dark, study: string, words: string}} props */
export function Cloud({ heads, x, y, colour, dark, study, words }) {
  const { model, passes, selected, open, select } = heads;
  const [box, width] = useWidth(720);
  const [drag, setDrag] = useState(null);
  const svg = useRef(null);
  const height = Math.round(Math.min(560, Math.max(300, width * 0.68)));
  const places = useMemo(() => placed(x, y, width, height), [x, y, width, height]);
  const shown = colour ?? placeOf(model);
  const fills = useMemo(() => [dark, false].map((how) => shown.value.map(colours(shown, how))), [shown, dark]);
  const name = fileName(study, model.name, y.id, x.id);
  const at = (event) => {
    const area = svg.current.getBoundingClientRect();
    return [event.clientX - area.left, event.clientY - area.top];
  };
  const start = (event) => {
    if (event.button === 0 && event.pointerType !== "touch" && !event.target.dataset.index) setDrag([at(event), at(event)]);
  };
  const end = () => {
    const [from, to] = drag ?? [];
    setDrag(null);
    if (!drag || Math.hypot(from[0] - to[0], from[1] - to[1]) < 5) return;
    const inside = ([left, top]) => between(left, from[0], to[0]) && between(top, from[1], to[1]);
    select(places.points.filter(({ at: place }) => inside(place)).map(({ index }) => index));
  };
  const save = (type) =>
    saveImage(svg.current, name, {
      title: `${y.title} against ${x.title}, ${model.title}`,
      notes: [`${words} Each point is a head, thin lines are its intervals, dashed lines the baselines. Study ${study}.`],
      below: [document.querySelector("#legend svg.picture")],
    }, type);
  const rows = () => {
    const up = measureRows(model, y);
    return measureRows(model, x).map((row, index) => pair({ model: model.name, ...headColumns(model, index) }, row, up[index]));
  };
  return html`
    <figure class="scatter-figure" ref=${box} ...${pointing()}>
      <svg class="picture scatter" ref=${svg} width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="group"
        aria-label=${`${y.title} against ${x.title}, ${places.points.length} heads`} onPointerDown=${start}
        onPointerMove=${(event) => drag && setDrag([drag[0], at(event)])} onPointerUp=${end} onPointerLeave=${end}>
        <rect class="ground" width=${width} height=${height} fill="transparent" data-light-fill="none" />
        <${Frame} ...${{ x, y, places, width, height }} />
        <g class="intervals" aria-hidden="true">
          ${places.points.map(({ index, bars }) => bars && html`<path class=${passes[index] ? "" : "faded"} d=${bars} />`)}
        </g>
        <${Points} ...${{ model, x, y, points: places.points, fills, passes, selected, open }} />
        <${Pointed} points=${places.points} />
        ${drag && html`<rect class="dragged no-save" x=${Math.min(drag[0][0], drag[1][0])} y=${Math.min(drag[0][1], drag[1][1])}
          width=${Math.abs(drag[0][0] - drag[1][0])} height=${Math.abs(drag[0][1] - drag[1][1])} />`}
      </svg>
      <${Tooltip} ...${{ model, measures: x === y ? [x] : [y, x] }} place=${(index) => spot(places, index, width)} />
      <figcaption>
        <p>${words}</p>
        <p class="small soft">${missing(x, y, places)} Thin lines are each head's intervals, dashed lines the baselines.</p>
        <div class="row save">
          <${SavePicture} save=${save} />
          <${SaveCsv} rows=${rows} name=${name} stated />
        </div>
      </figcaption>
    </figure>
  `;
}

function Points({ model, x, y, points, fills, passes, selected, open }) {
  const [active, setActive] = useState(-1);
  const stop = points.some(({ index }) => index === active) ? active : points[0]?.index;
  const press = (event) => {
    const place = points.findIndex(({ index }) => index === Number(event.target.dataset.index));
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step) {
      const next = points[Math.min(points.length - 1, Math.max(0, place + step))].index;
      event.currentTarget.querySelector(`[data-index="${next}"]`).focus();
    } else if (event.key === "Enter" || event.key === " ") open(points[place].index);
    else return;
    event.preventDefault();
  };
  return html`
    <g class="points" onKeyDown=${press} onfocusin=${(event) => setActive(Number(event.target.dataset.index))}
      onClick=${(event) => event.target.dataset.index && open(Number(event.target.dataset.index))}>
      ${points.map(({ index, at }) => html`
        <circle key=${index} role="button" class=${`point${passes[index] ? "" : " faded"}${selected.has(index) ? " selected" : ""}`} data-head=${headName(model, index)}
          data-index=${index} tabindex=${index === stop ? 0 : -1} cx=${at[0]} cy=${at[1]} r=${RADIUS} fill=${fills[0][index] ?? "none"}
          data-light-fill=${fills[1][index] ?? "none"} aria-label=${`Head ${headName(model, index)}, ${y.title} ${valueText(y, index)}, ${x.title} ${valueText(x, index)}`} />
      `)}
    </g>
  `;
}

function Pointed({ points }) {
  const index = useHover();
  const point = points.find((one) => one.index === index);
  return point ? html`<circle class="pointed no-save" cx=${point.at[0]} cy=${point.at[1]} r=${RADIUS + 3} />` : null;
}

// Axes with their ticks, titles and baselines.
function Frame({ x, y, places: { left, range, sx, sy }, width, height }) {
  const bottom = height - BOTTOM;
  const nulls = ({ null: none }) => (typeof none === "number" ? [none] : []);
  return html`
    <g class="frame" aria-hidden="true">
      <path class="mark" d=${`M${left} ${TOP}V${bottom}H${width - RIGHT}`} />
      ${marks(x, range[0]).map(([mark, text]) => html`
        <path class="mark" d=${`M${sx(mark)} ${bottom}v4`} /><text class="tick middle" x=${sx(mark)} y=${bottom + 17}>${text}</text>
      `)}
      ${marks(y, range[1]).map(([mark, text]) => html`
        <path class="mark" d=${`M${left} ${sy(mark)}h-4`} /><text class="tick end" x=${left - 7} y=${sy(mark) + 4}>${text}</text>
      `)}
      ${nulls(x).map((none) => html`<path class="null" d=${`M${sx(none)} ${TOP}V${bottom}`} />`)}
      ${nulls(y).map((none) => html`<path class="null" d=${`M${left} ${sy(none)}H${width - RIGHT}`} />`)}
      <text class="axis-title middle" x=${(left + width - RIGHT) / 2} y=${height - 8}>${titled(x)}</text>
      <text class="axis-title middle" transform=${`translate(13,${(TOP + bottom) / 2}) rotate(-90)`}>${titled(y)}</text>
    </g>
  `;
}

function titled({ title, unit }) {
  return unit ? `${title}, ${unit}` : title;
}

function marks(measure, range) {
  if (measure.scale === "category") return measure.categories.map((title, index) => [index, title.length > 13 ? `${title.slice(0, 12)}…` : title]);
  const values = ticks(range, 6);
  return values.map((value) => [value, number(value, tickDecimals(values))]);
}

// Positions of the heads that have both values, in the order of x, and paths of their intervals.
function placed(x, y, width, height) {
  const range = [reach(x), reach(y)];
  const left = 30 + Math.max(...marks(y, range[1]).map(([, text]) => text.length)) * 6.5;
  const sx = (one) => left + ((one - range[0][0]) / (range[0][1] - range[0][0])) * (width - RIGHT - left);
  const sy = (one) => height - BOTTOM - ((one - range[1][0]) / (range[1][1] - range[1][0])) * (height - BOTTOM - TOP);
  const points = x.value
    .map((_, index) => index)
    .filter((index) => x.value[index] !== null && y.value[index] !== null)
    .map((index) => {
      const at = [sx(along(x, index)), sy(along(y, index))];
      const [across, up] = [intervalOf(x, index), intervalOf(y, index)];
      const bars = (across ? `M${sx(across[0])} ${at[1]}H${sx(across[1])}` : "") + (up ? `M${at[0]} ${sy(up[0])}V${sy(up[1])}` : "");
      return { index, at, bars };
    });
  return { left, range, sx, sy, points: points.sort((a, b) => a.at[0] - b.at[0] || a.index - b.index) };
}

function spot({ points }, index, width) {
  const point = points.find((one) => one.index === index);
  return point ? { x: point.at[0], y: point.at[1], width } : null;
}

function between(one, end, other) {
  return one >= Math.min(end, other) && one <= Math.max(end, other);
}

function missing(x, y, { points }) {
  const gone = x.value.length - points.length;
  return gone === 0 ? "" : `${gone} of ${x.value.length} heads lack one of the two values and are not shown.`;
}

// A row of a CSV file with both measures.
function pair(head, across, up) {
  const own = (row) => Object.entries(row).filter(([key]) => !(key in head));
  const named = (row, axis) => Object.fromEntries(own(row).map(([key, value]) => [`${axis}_${key}`, value]));
  return { ...head, ...named(across, "x"), ...named(up, "y") };
}
