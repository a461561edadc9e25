/** What stands around the grid: numbers of layers and heads, means of each layer. */

import { html } from "../vendor/standalone.module.js";
import { number } from "../lib/format.js";
import { layersOf, typesOf } from "../lib/measures.js";
import { groupsOf } from "../lib/roles.js";
import { domain, palette } from "../lib/scales.js";
import { layerCounts, layerMeans } from "../lib/statistics.js";

/** Numbers of the layers at the left, by type of attention where there are several, and of the heads below. */
export function Axes({ model, place }) {
  const { left, bottom, right, cell } = place;
  const every = cell[0] < 17 ? 2 : 1;
  const columns = Array.from({ length: model.n_heads }, (_, column) => column + 1);
  const middle = (row) => bottom - (row + 0.5) * cell[1];
  return html`
    <g class="axes" aria-hidden="true">
      ${layersOf(model).map(({ layer }, row) => html`<text class="tick end" x=${left - 7} y=${middle(row) + 4}>${layer}</text>`)}
      ${typesOf(model).map(({ title, first, last }) => html`
        <text class="axis middle" transform=${`translate(9,${(middle(first) + middle(last)) / 2}) rotate(-90)`}>${title}</text>
        ${first > 0 && html`<path class="between" d=${`M0 ${bottom - first * cell[1] - 0.5}H${right}`} />`}
      `)}
      ${columns
        .filter((column) => (column - 1) % every === 0)
        .map((column) => html`<text class="tick middle" x=${left + (column - 0.5) * cell[0]} y=${bottom + 15}>${column}</text>`)}
      <${Brackets} ...${{ model, place }} />
      <text class="axis middle" x=${(left + right) / 2} y=${place.height - 7}>
        ${groupsOf(model).length > 0 ? "Head; brackets share keys and values" : "Head"}
      </text>
      <text class="axis" x="0" y=${place.top - 8}>Layer</text>
    </g>
  `;
}

/** Brackets under the heads that share keys and values, and a line between these groups through all layers. */
function Brackets({ model, place: { left, top, bottom, cell } }) {
  const groups = groupsOf(model);
  return groups.map(({ first, last }, group) => {
    const [from, to] = [left + first * cell[0] + 2, left + (last + 1) * cell[0] - 3];
    const number = `KV ${group + 1}`;
    return html`<g class="kv-group">
      <title>${`Heads ${first + 1} to ${last + 1} of a layer share its keys and values ${group + 1}`}</title>
      ${group > 0 && html`<path class="between" d=${`M${left + first * cell[0] - 0.5} ${top}V${bottom}`} />`}
      <path class="bracket" d=${`M${from} ${bottom + 19}v4H${to}v-4`} />
      <text class="tick middle" x=${(from + to) / 2} y=${bottom + 35}>${(last - first + 1) * cell[0] > 7 * number.length ? number : group + 1}</text>
    </g>`;
  });
}

/** At the right, the mean of each layer, or how its heads divide into categories. */
export function LayerMeans({ measure, model, place, dark }) {
  const x = place.right + 12;
  const wide = place.margin > 100;
  const width = place.margin - (measure.scale === "category" ? 16 : 60);
  const bar = Math.min(place.cell[1] - 6, 12);
  const middle = (layer) => place.bottom - (layer + 0.5) * place.cell[1];
  const title = measure.scale === "category" ? (wide ? "In the layer" : "Kinds") : wide ? "Mean of the layer" : "Mean";
  const head = html`<text class="axis" x=${x} y=${place.top - 8}>${title}</text>`;
  if (measure.scale === "category") {
    const unit = width / model.n_heads;
    const [paint, light] = [dark, false].map((how) => palette(measure.categories, how));
    return html`
      <g class="means" aria-hidden="true">
        ${head}
        ${layerCounts(measure, model).map((counts, layer) => {
          let from = x;
          return counts.map((count, index) => {
            from += count * unit;
            return count
              ? html`<rect x=${from - count * unit} y=${middle(layer) - bar / 2} width=${count * unit} height=${bar}
                  fill=${paint[index]} data-light-fill=${light[index]} />`
              : null;
          });
        })}
      </g>
    `;
  }
  const scale = toBar(measure, width);
  return html`
    <g class="means" aria-hidden="true">
      ${head}
      ${layerMeans(measure, model).map((one, layer) => {
        if (one === null) return html`<text class="tick" x=${x} y=${middle(layer) + 4}>–</text>`;
        const [from, to] = scale(one);
        return html`
          <rect class="bar" x=${x + from} y=${middle(layer) - bar / 2} width=${Math.max(1, to - from)} height=${bar} />
          <text class="tick" x=${x + width + 5} y=${middle(layer) + 4}>${number(one, measure.decimals)}</text>
        `;
      })}
      <path class="zero" d=${`M${x + scale(centre(measure))[0] + 0.5} ${place.top}V${place.bottom}`} />
    </g>
  `;
}

function centre(measure) {
  const range = domain(measure) ?? [0, 1];
  return measure.scale === "diverging" ? (range[0] + range[1]) / 2 : range[0];
}

// From a mean to the ends of its bar, which begins at the range's start or, diverging, its centre.
function toBar(measure, length) {
  const [low, high] = domain(measure) ?? [0, 1];
  const start = (centre(measure) - low) / (high - low);
  return (one) => {
    const end = Math.min(1, Math.max(0, (one - low) / (high - low)));
    return [Math.min(start, end) * length, Math.max(start, end) * length];
  };
}
