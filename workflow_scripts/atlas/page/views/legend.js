/** The legend: colours with their values, where the heads lie, the baseline, and what is hatched or missing. */

import { html } from "../vendor/standalone.module.js";
import { number, plural, shortMarks } from "../lib/format.js";
import { hatched, hatchRule, known, withUnit } from "../lib/measures.js";
import { domain, isDown, onTop, palette, ramp, tickDecimals, ticks } from "../lib/scales.js";
import { Hatches } from "./cells.js";

const WIDTH = 312;
const SIDE = 20;
const BAR = { top: 44, height: 14 };

/**
 * @param {{measure, dark, filters, choose, framed}} props  framed: whether borders have the colours; choose(kind) is called with the
 *   number of a category that is clicked; filters: those on this measure
 */
export function Legend(props) {
  const { measure, framed } = props;
  const count = measure.value.filter((_, index) => hatched(measure, index)).length;
  const rule = hatchRule(measure);
  const missing = measure.value.length - known(measure);
  return html`
    <section id="legend" class="small" aria-label="Legend">
      ${known(measure) === 0
        ? html`<p>No head has a value${measure.unit && ` (${measure.unit})`}.</p>`
        : measure.scale === "category"
          ? html`<${Swatches} ...${props} />`
          : html`<${Bar} ...${props} />`}
      ${count > 0 && rule && html`<p class="key">${!framed && html`<${Swatch} hatch=${true} />`} <span><b>${count} of ${plural(measure.value.length, "head")} ${framed ? "with dotted borders" : "hatched"}:</b> ${rule}.</span></p>`}
      ${missing > 0 && html`<p class="key"><${Swatch} /> <span>${plural(missing, "head")} without a value.</span></p>`}
      ${Array.isArray(measure.null) && known(measure) > 0 && html`<p class="key">Each head has its own baseline${measure.null_title && ` (${measure.null_title})`}; pointing at a head shows it.</p>`}
    </section>
  `;
}

function Swatch({ hatch }) {
  return html`
    <svg class="swatch" width="22" height="14" aria-hidden="true">
      ${hatch && html`<${Hatches} />`}
      <rect width="22" height="14" fill=${hatch ? "#6aaed6" : "var(--missing)"} />
      ${hatch ? html`<rect width="22" height="14" fill="url(#hatch-light)" />` : html`<path class="none" d="M8 7h7" />`}
    </svg>
  `;
}

function Bar({ measure, dark }) {
  const [low, high] = domain(measure);
  const width = WIDTH - 2 * SIDE;
  const x = (value) => SIDE + ((value - low) / (high - low)) * width;
  const marks = ticks([low, high], 6);
  const decimals = tickDecimals(marks);
  const none = typeof measure.null === "number" ? measure.null : null;
  return html`
    <svg class="picture bar" width=${WIDTH} height="72" viewBox=${`0 20 ${WIDTH} 72`} role="img"
      aria-label=${`Colours from ${withUnit(measure, low)} to ${withUnit(measure, high)}; ${colourRule(measure, dark)}`}>
      <defs>
        ${["page", "light"].map((which) => html`
          <linearGradient id=${`ramp-${which}`}>
            ${stops(measure, which === "page" && dark)}
          </linearGradient>
        `)}
      </defs>
      <path class="rug" d=${rug(measure, x)} />
      <rect x=${SIDE} y=${BAR.top} width=${width} height=${BAR.height} fill="url(#ramp-page)" data-light-fill="url(#ramp-light)" />
      ${marks.map((mark) => html`
        <path class="mark" d=${`M${x(mark)} ${BAR.top + BAR.height}v4`} />
        <text class="tick middle" x=${x(mark)} y=${BAR.top + BAR.height + 16}>${number(mark, decimals)}</text>
      `)}
      <text class="axis end" x=${WIDTH - SIDE} y="88">${measure.unit}</text>
      ${none !== null && html`
        <path class="null" d=${`M${x(none)} ${BAR.top - 3}V${BAR.top + BAR.height}`} />
        <path class="null-mark" d=${`M${x(none)} ${BAR.top + BAR.height + 1}l-4 6h8z`} />
        <text class="axis" x=${SIDE} y="88">▲ ${measure.null_title ?? "baseline"}: ${withUnit(measure, none)}</text>
      `}
    </svg>
    <p class="small soft">Colours: ${colourRule(measure, dark)}; each line above the colours is a head.</p>
  `;
}

function stops(measure, dark) {
  const points = ramp(measure.scale, dark, isDown(measure));
  return points.map((colour, index) => html`<stop offset=${index / (points.length - 1)} stop-color=${colour} />`);
}

function colourRule(measure, dark) {
  if (measure.harm) return `red is harm: ${measure.harm === "low" ? "the score falls" : "the loss rises"}`;
  const further = measure.scale === "diverging" ? "further from the baseline" : isDown(measure) ? "lower" : "more";
  return `${dark ? "brighter" : "darker"} is ${further}`;
}

// A short line for each head over its value.
function rug(measure, x) {
  return measure.value
    .filter((one) => one !== null)
    .map((one) => `M${x(one).toFixed(1)} ${BAR.top - 4}v-14`)
    .join("");
}

function Swatches({ measure, dark, filters, choose }) {
  const light = palette(measure.categories, false);
  const paint = palette(measure.categories, dark);
  const marks = shortMarks(measure.categories);
  const shown = measure.categories.map((title, index) => ({
    title: measure.category_notes?.[index] ? `${title} (${measure.category_notes[index]})` : title,
    index,
    colour: paint[index],
    count: measure.value.filter((one) => one === index).length,
  }));
  return html`
    <svg class="picture" width=${WIDTH} height=${shown.length * 26} viewBox=${`0 0 ${WIDTH} ${shown.length * 26}`} role="group"
      aria-label="Categories; choosing one filters its heads">
      ${shown.map(({ title, index, colour, count }) => {
        const chosen = filters.some(({ op, value }) => op === ":" && value === index);
        const key = (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose(index);
        };
        return html`
          <g class="choice" role="button" tabindex="0" aria-pressed=${chosen ? "true" : "false"} aria-label=${`${title}, ${plural(count, "head")}`}
            transform=${`translate(0,${index * 26})`} onClick=${() => choose(index)} onKeyDown=${key}>
            <rect class="target" x="0" y="1" width=${WIDTH} height="24" rx="3" fill="transparent" data-light-fill="none" />
            <rect x="6" y="6" width="22" height="14" fill=${colour} data-light-fill=${light[index]} />
            <text class=${onTop(colour) === "#000000" ? "inside" : "inside light"} x="17" y="17" data-light-fill=${onTop(light[index])}>${marks[index].length < 4 ? marks[index] : ""}</text>
            <text class="choice-name" x="38" y="17">${title}</text>
            <text class="tick end" x=${WIDTH - 8} y="17">${count}</text>
          </g>
        `;
      })}
    </svg>
  `;
}
