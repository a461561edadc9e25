/** The papers' claims, each with its rule, the paper's number and ours on one axis. */

import { html } from "../vendor/standalone.module.js";
import { axisOf, byPaper, counted, ourNumber, paperSide, short } from "../lib/claims.js";
import { format } from "../lib/fragment.js";
import { plural, withMinus } from "../lib/format.js";
import { modelOf } from "../lib/measures.js";
import { fileName } from "../lib/rows.js";
import { Cautions } from "./opening.js";
import { SaveCsv } from "./saves.js";

const [WIDTH, HEIGHT, MIDDLE] = [240, 34, 12];
const MARKS = { good: "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0", bad: "M0,-5.5L5,4H-5Z", open: "M0,-5.5L5,0L0,5.5L-5,0Z" };

/** @param {{atlas, state}} props */
export function Claims({ atlas, state }) {
  const model = modelOf(atlas, state);
  const central = byPaper(atlas.claims, model.name, true);
  const others = byPaper(atlas.claims, model.name, false);
  const all = central.flatMap(({ claims }) => claims);
  const own = atlas.claims.filter((row) => row.model === model.name);
  if (own.length === 0) return html`<h2>Claims</h2><${Elsewhere} ...${{ atlas, state, model }} />`;
  return html`
    <h2>Claims about ${model.title}</h2>
    ${all.length > 0 && html`<p>${plural(all.length, "central claim")}; ${counted(all).map(([verdict, n]) => `${verdict}: ${n}`).join("; ")}.</p>`}
    <${Cautions} atlas=${atlas} />
    <p class="small soft">On the paper's own model and data a claim is reproduced or not; on another model it carries over, does not, or is inconclusive. A claim that is not tested has no verdict, whatever its number.</p>
    <${Legend} />
    <table class="claims">
      <thead class="small"><tr><th scope="col">Claim</th><th scope="col">Rule, paper and ours</th><th scope="col">Our number</th><th scope="col">Verdict</th></tr></thead>
      ${central.map(({ paper, claims }) => html`<tbody key=${paper}>
        <tr class="paper"><th colspan="4" scope="rowgroup"><bdi>${paper}</bdi></th></tr>
        ${claims.flatMap((claim) => claim.cases.map((row, at) => html`<${Case} key=${`${row.id} ${row.case}`} ...${{ atlas, state, row, at, cases: claim.cases }} />`))}
      </tbody>`)}
    </table>
    ${others.length > 0 && html`<details class="other-claims">
      <summary>All other claims (${others.flatMap(({ claims }) => claims).length})</summary>
      <table class="claims others">
        <thead class="small"><tr><th scope="col">Claim</th><th scope="col">Our number</th><th scope="col">Verdict</th></tr></thead>
        ${others.map(({ paper, claims }) => html`<tbody key=${paper}>
          <tr class="paper"><th colspan="3" scope="rowgroup"><bdi>${paper}</bdi></th></tr>
          ${claims.flatMap((claim) => claim.cases.map((row, at) => html`<${Case} key=${`${row.id} ${row.case}`} ...${{ atlas, state, row, at, cases: claim.cases, plain: true }} />`))}
        </tbody>`)}
      </table>
    </details>`}
    <div class="row save"><${SaveCsv} rows=${() => own.map(({ figures: _figures, address: _address, ...row }) => row)} name=${fileName(atlas.study.name, model.name, "claims")} /></div>
  `;
}

/** Of a model without claims: which models have some. */
function Elsewhere({ atlas, state, model }) {
  const judged = atlas.models.filter(({ name }) => atlas.claims.some((row) => row.model === name));
  return html`<p>No claims are listed under ${model.title}; see ${judged.map(({ name, title }, at) => html`${at > 0 && ", "}<a href=${format({ ...state, model: name })}><bdi>${title}</bdi></a>`)}.</p>`;
}

function Case({ atlas, state, row, at, cases, plain }) {
  const first = at === 0;
  const untrained = row.untrained_low !== undefined && `Untrained copies: ${short(row.untrained_low)} to ${short(row.untrained_high)}`;
  return html`<tr class=${first ? "first" : null}>
    ${first && html`<th scope="row" rowspan=${cases.length} title=${row.id}>
      <bdi>${row.statement}</bdi>
      <small class="soft"><bdi>${paperSide(row)}</bdi></small>
      ${row.later && html`<small class="soft"><bdi>${row.later}</bdi></small>`}
      <${FigureLinks} ...${{ atlas, state, row }} />
    </th>`}
    ${!plain && html`<td class="axis"><${Strip} ...${{ row, cases }} /></td>`}
    <td class="ours">
      ${row.case && html`<bdi>${row.case}</bdi>${": "}`}<bdi>${ourNumber(row) || "–"}</bdi>
      ${row.note && html`<small class="soft"><bdi>${withMinus(row.note)}</bdi></small>`}
      ${untrained && html`<small class="soft">${untrained}</small>`}
      ${row.because && html`<small class="soft"><bdi>${row.because}</bdi></small>`}
    </td>
    <td class="verdict">
      <b class=${row.badge}>${row.verdict}</b>
      ${row.address && html`<small><a href=${row.address + (state.theme ? `&theme=${state.theme}` : "")}>In the atlas</a></small>`}
    </td>
  </tr>`;
}

function FigureLinks({ atlas, state, row }) {
  const figures = (row.figures ?? []).map((id) => atlas.figures.find((figure) => figure.id === id));
  return figures.map(({ id, title }) => html`<small><a href=${format({ ...state, view: "figures", figure: id })}><bdi>${title}</bdi></a></small>`);
}

/** What lies where on the axis of a claim, for one of its cases. */
function Strip({ row, cases }) {
  const axis = axisOf(cases);
  if (!axis || row.ours === undefined) return null;
  const x = (value) => axis.place(value) * WIDTH;
  const [from, to] = [row.rule_low === undefined ? 0 : x(row.rule_low), row.rule_high === undefined ? WIDTH : x(row.rule_high)];
  const wanted = (row.rule_low ?? row.rule_high) !== undefined && from <= to; // of a rule that can be met
  const theirs = row.paper_value === undefined ? "" : `; the paper's: ${short(row.paper_value)}`;
  return html`<svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT} role="img" aria-label=${`Ours: ${ourNumber(row)}; rule: ${row.rule}${theirs}`}>
    ${wanted && html`<rect class="rule" x=${from} y="1" width=${Math.max(1, to - from)} height=${2 * MIDDLE - 2} />`}
    <line class="baseline" x1="0" x2=${WIDTH} y1=${2 * MIDDLE} y2=${2 * MIDDLE} />
    ${row.reference !== undefined && html`<line class="reference" x1=${x(row.reference)} x2=${x(row.reference)} y1="1" y2=${2 * MIDDLE} />`}
    ${row.paper_value !== undefined && html`<line class="theirs" x1=${x(row.paper_value)} x2=${x(row.paper_value)} y1="0" y2=${2 * MIDDLE} />`}
    ${["untrained_low", "untrained_high"].filter((name) => row[name] !== undefined).map((name) => html`<path class="untrained" d="M-3,-3L3,3M-3,3L3,-3" transform=${`translate(${x(row[name])} ${MIDDLE})`} />`)}
    <g class=${`ours-mark ${row.badge}`}>
      ${row.ci_low !== undefined && html`<line x1=${x(row.ci_low)} x2=${x(row.ci_high)} y1=${MIDDLE} y2=${MIDDLE} />`}
      <path d=${MARKS[row.badge] ?? MARKS.good} transform=${`translate(${x(row.ours)} ${MIDDLE})`} />
    </g>
    ${[...new Set([axis.low, axis.high])].map((value) => html`<text class="soft" x=${x(value)} y=${HEIGHT - 1} text-anchor="middle" font-size="9">${short(value)}</text>`)}
  </svg>`;
}

function Legend() {
  const mark = (badge, words) => html`<li><svg width="22" height="14" viewBox="-11 -7 22 14" aria-hidden="true"><g class=${`ours-mark ${badge}`}><line x1="-10" x2="10" /><path d=${MARKS[badge] ?? MARKS.good} /></g></svg> ${words}</li>`;
  const line = (name, words) => html`<li><svg width="12" height="14" viewBox="-6 -7 12 14" aria-hidden="true"><line class=${name} y1="-7" y2="7" /></svg> ${words}</li>`;
  return html`<ul class="claims-legend row small soft">
    <li><svg width="22" height="14" aria-hidden="true"><rect class="rule" width="22" height="14" /></svg> where the rule wants our number</li>
    ${line("theirs", "the paper's number")} ${line("reference", "no effect: chance, a baseline or 0")}
    ${mark("good", "ours, with its interval: reproduced or carries over")} ${mark("bad", "is not reproduced or does not carry over")} ${mark("open", "inconclusive")} ${mark("none", "not tested")}
    <li><svg width="12" height="14" viewBox="-6 -7 12 14" aria-hidden="true"><path class="untrained" d="M-3,-3L3,3M-3,3L3,-3" /></svg> untrained copies of the model</li>
  </ul>`;
}
