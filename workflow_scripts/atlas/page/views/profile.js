/** Every measure of a head: value, interval, where it stands among the heads. */

import { html, useState } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { pValue } from "../lib/format.js";
import { among, countText, denial, groups, hatched, intervalOf, intervalText, nullOf, valueText, withUnit } from "../lib/measures.js";
import { standing } from "../lib/profile.js";
import { reach } from "../lib/scales.js";
import { matches } from "../lib/search.js";

const [HEIGHT, PAD] = [20, 5];
const DOT = "Dot: this head; open where it is not better than the baseline or, with no better side, does not detectably differ from it.";

/** The head's value and interval, on one scale for all heads, over a rug of their values; the baseline is a dashed line. */
export function Strip({ measure, i, width = 180, rug = true }) {
  if (measure.scale === "category" || measure.value[i] === null) return null;
  const [low, high] = reach(measure);
  const x = (value) => (PAD + ((width - 2 * PAD) * (value - low)) / (high - low)).toFixed(1);
  const others = rug ? measure.value.filter((value) => value !== null).map((value) => `M${x(value)} 4V16`).join("") : `M${PAD} 10H${width - PAD}`;
  const interval = intervalOf(measure, i);
  const none = nullOf(measure, i) ?? null;
  return html`<svg class="strip" width=${width} height=${HEIGHT} viewBox=${`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
    <path d=${others} stroke="var(--ink)" stroke-opacity="0.16" />
    ${none !== null && html`<path d=${`M${x(none)} 0V${HEIGHT}`} stroke="var(--ink)" stroke-width="1.2" stroke-dasharray="2 2" />`}
    ${interval && html`<path d=${`M${x(interval[0])} 10H${x(interval[1])}`} stroke="var(--accent)" stroke-width="3" stroke-linecap="round" stroke-opacity="0.75" />`}
    <circle cx=${x(measure.value[i])} cy="10" r="4" stroke="var(--accent)" stroke-width="1.6" fill=${hatched(measure, i) ? "var(--panel)" : "var(--accent)"} />
  </svg>`;
}

/** The table of all measures, by paper. */
export function Profile({ atlas, measures, index, state }) {
  const [words, setWords] = useState("");
  const found = measures.filter((measure) => matches(measure, words.trim()));
  const missing = measures.filter((measure) => measure.value[index] === null).length;
  return html`<section class="profile" aria-labelledby="profile-title">
    <div class="section-head row">
      <h3 id="profile-title">Every measure</h3>
      <label>Find <input type="search" value=${words} placeholder="dobj" size="12" onInput=${(event) => setWords(event.target.value)} /></label>
      ${found.length < measures.length && html`<span class="soft small" role="status">${found.length} of ${measures.length}</span>`}
    </div>
    <p class="soft small">${DOT} Bar: its interval. Ticks: all heads. Dashed: the baseline.
      Rank 1 is the highest value, or the lowest where lower is better; of disabling a head, the most harmful. ${missing > 0 && `Of this head, ${missing} of ${measures.length} measures are unknown.`}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Measures of the head">
      <table>
        <thead><tr><th scope="col">Measure</th><th scope="col" class="number">Value</th><th scope="col" class="optional">Among all heads</th>
          <th scope="col">Interval</th><th scope="col" class="number optional">n</th><th scope="col" class="number optional">p</th><th scope="col" class="number">Rank</th></tr></thead>
        ${groups(atlas, found).map(({ label, measures: members }) => html`<tbody key=${label}>
          <tr class="paper"><th colspan="7" scope="colgroup">${label}</th></tr>
          ${members.map((measure) => html`<${Row} key=${measure.id} ...${{ measure, index, state }} />`)}
        </tbody>`)}
      </table>
    </div>
  </section>`;
}

function Row({ measure, index, state }) {
  const place = standing(measure, index);
  const open = hatched(measure, index);
  const none = nullOf(measure, index) ?? null;
  const about = none === null ? measure.about : `${measure.about} ${measure.null_title ?? "Baseline"}: ${withUnit(measure, none)}.`;
  return html`<tr class=${open ? "hatched" : null} title=${about}>
    <th scope="row"><a href=${format({ ...state, view: "grid", measure: measure.id })}><bdi>${measure.title}</bdi></a></th>
    <td class="number">${valueText(measure, index)}${measure.label?.[index] && html`<small class="label"><bdi>${measure.label[index]}</bdi></small>`}</td>
    <td class="optional"><${Strip} measure=${measure} i=${index} /></td>
    <td class="interval">${intervalText(measure, index) ?? "–"}${open && html`<small class="label">${denial(measure)}</small>`}</td>
    <td class="number optional">${countText(measure, index) ?? "–"}</td>
    <td class="number optional">${pValue(measure.p?.[index])}</td>
    <td class="number rank">${place ? html`${place.rank} <small class="soft">${among(measure)}</small>${place.tied > 0 && html`<small class="label">shared by ${place.tied + 1}</small>`}` : "–"}</td>
  </tr>`;
}
