/** Every measure of a head: value, interval, where it stands among the heads. */

import { html, useState } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { number, pValue } from "../lib/format.js";
import { beats, countOf, denial, differs, hatched, headName, intervalOf, nullOf, oneSided, valueText, withUnit } from "../lib/measures.js";
import { standing } from "../lib/profile.js";
import { headColumns } from "../lib/rows.js";
import { domain } from "../lib/scales.js";
import { matches } from "../lib/search.js";
import { SaveCsv } from "./saves.js";

const [WIDTH, HEIGHT, PAD] = [180, 20, 5];
const DOT = "Dot: this head; open where it is not better than the baseline or, with no better side, does not detectably differ from it.";

/**
 * Positions of a measure's values in a strip: all heads, this one, its interval and the baseline.
 * @param {object} measure
 * @param {number} i
 * @returns {{at: function, range: number[]}|null}
 */
function strip(measure, i) {
  const range = domain(measure);
  if (!range || measure.scale === "category") return null;
  const all = [...range, ...(intervalOf(measure, i) ?? []), nullOf(measure, i)].filter((value) => typeof value === "number");
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return { range: [low, high], at: (value) => PAD + ((WIDTH - 2 * PAD) * (value - low)) / (high - low || 1) };
}

/** The head's value and interval over a rug of all heads' values; the baseline is a dashed line. */
export function Strip({ measure, i }) {
  const found = strip(measure, i);
  if (!found || measure.value[i] === null) return null;
  const { at } = found;
  const x = (value) => at(value).toFixed(1);
  const rug = measure.value.filter((value) => value !== null).map((value) => `M${x(value)} 4V16`).join("");
  const interval = intervalOf(measure, i);
  const none = nullOf(measure, i) ?? null;
  const open = hatched(measure, i);
  return html`<svg class="strip" width=${WIDTH} height=${HEIGHT} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
    <path d=${rug} stroke="var(--ink)" stroke-width="1" stroke-opacity="0.16" />
    ${none !== null && html`<path d=${`M${x(none)} 0V${HEIGHT}`} stroke="var(--ink)" stroke-width="1.2" stroke-dasharray="2 2" />`}
    ${interval && html`<path d=${`M${x(interval[0])} 10H${x(interval[1])}`} stroke="var(--accent)" stroke-width="3" stroke-linecap="round" stroke-opacity="0.75" />`}
    <circle cx=${x(measure.value[i])} cy="10" r="4" stroke="var(--accent)" stroke-width="1.6" fill=${open ? "var(--panel)" : "var(--accent)"} />
  </svg>`;
}

/** "1.02 to 1.31", or a dash. */
export function intervalText(measure, i) {
  const interval = intervalOf(measure, i);
  return interval ? interval.map((end) => number(end, measure.decimals)).join(" to ") : "–";
}

/** The table of all measures, by paper. */
export function Profile({ atlas, model, measures, index, state }) {
  const [words, setWords] = useState("");
  const label = headName(model, index);
  const file = `${model.name}_${label}_measures`;
  const found = measures.filter((measure) => matches(measure, words.trim()));
  const sections = byPaper(atlas, found);
  const missing = measures.filter((measure) => measure.value[index] === null).length;
  return html`<section class="profile" aria-labelledby="profile-title">
    <div class="section-head row">
      <h3 id="profile-title">Every measure</h3>
      <label>Find <input type="search" value=${words} placeholder="dobj" size="12" onInput=${(event) => setWords(event.target.value)} /></label>
      ${found.length < measures.length && html`<span class="soft small" role="status">${found.length} of ${measures.length}</span>`}
      <span class="saves">
        <${SaveCsv} rows=${() => rowsOf(model, measures, index)} name=${file} />
      </span>
    </div>
    <p class="soft small">${DOT} Bar: its interval. Ticks: all heads. Dashed: the baseline.
      Rank 1 is the highest value, or the lowest where lower is better; of disabling a head, the most harmful. ${missing > 0 && `Of this head, ${missing} of ${measures.length} measures are unknown.`}</p>
    <div class="scroll" tabindex="0" role="region" aria-label="Measures of the head">
      <table>
        <thead><tr><th scope="col">Measure</th><th scope="col" class="number">Value</th><th scope="col" class="optional">Among all heads</th>
          <th scope="col">Interval</th><th scope="col" class="number optional">n</th><th scope="col" class="number optional">p</th><th scope="col" class="number">Rank</th></tr></thead>
        ${sections.map(
          ({ title, group, measures: members }) => html`<tbody key=${members[0].id}>
            ${title && html`<tr class="paper"><th colspan="7" scope="colgroup">${title}</th></tr>`}
            ${group && html`<tr class="paper group"><th colspan="7" scope="colgroup">${group}</th></tr>`}
            ${members.map((measure) => html`<${Row} key=${measure.id} ...${{ measure, index, state }} />`)}
          </tbody>`,
        )}
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
    <td class="interval">${intervalText(measure, index)}${open && html`<small class="label">${denial(measure)}</small>`}</td>
    <td class="number optional">${countOf(measure, index) ?? "–"}</td>
    <td class="number optional">${pValue(measure.p?.[index])}</td>
    <td class="number rank">${place ? html`${place.rank} <small class="soft">of ${place.of}</small>${place.tied > 0 && html`<small class="label">shared by ${place.tied + 1}</small>`}` : "–"}</td>
  </tr>`;
}

/** Runs of measures of one paper and group, in the file's order; a paper's title stands over its first. */
function byPaper(atlas, measures) {
  const sections = [];
  for (const { name, title } of atlas.papers) {
    const first = sections.length;
    for (const measure of measures.filter(({ paper }) => paper === name)) {
      const last = sections.at(-1);
      if (sections.length > first && last.group === measure.group) last.measures.push(measure);
      else sections.push({ title: sections.length === first ? title : null, group: measure.group, measures: [measure] });
    }
  }
  return sections;
}

function rowsOf(model, measures, index) {
  return measures.map((measure) => {
    const place = standing(measure, index);
    const [low, high] = intervalOf(measure, index) ?? [null, null];
    return {
      model: model.name,
      ...headColumns(model, index),
      paper: measure.paper,
      measure: measure.id,
      title: measure.title,
      state: measure.state,
      task: measure.task,
      unit: measure.unit,
      value: measure.scale === "category" ? valueText(measure, index) : measure.value[index],
      low,
      high,
      n: countOf(measure, index),
      p: measure.p?.[index],
      null: nullOf(measure, index),
      differs_from_baseline: differs(measure, index),
      better_than_baseline: oneSided(measure) ? beats(measure, index) : null,
      rank: place?.rank,
      of: place?.of,
    };
  });
}
