/** Choosing a measure from a long list: a text field that lists the measures with all its words. */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/standalone.module.js";
import { plural } from "../lib/format.js";
import { groups, measuresElsewhere, modelOf } from "../lib/measures.js";
import { searched } from "../lib/search.js";

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

/**
 * A combobox in the pattern of the ARIA Authoring Practices, with groups by paper.
 * @param {{id, label, atlas, measures, value: string, choose: function, none: string}} props
 *   choose(id, model) is called with the measure's id and its model's name; none: the title of the empty choice, where
 *   there is one. Words find what only other models have, too
 */
export function MeasurePicker({ id, label, atlas, measures, value, choose, none }) {
  const [words, setWords] = useState(null); // null: the list is closed
  const [active, setActive] = useState(0);
  const [field, list] = [useRef(null), useRef(null)];
  const all = useMemo(() => {
    const empty = none ? [{ label: "", measures: [{ id: "", title: none, group: "" }] }] : [];
    return [...empty, ...groups(atlas, measures)];
  }, [measures, none]);
  const open = words !== null;
  const elsewhere = useMemo(() => ofOthers(atlas, measures[0].model), [atlas, measures]);
  const found = useMemo(() => (open ? searched(words.trim() ? [...all, ...elsewhere] : all, words.trim()) : []), [all, elsewhere, words]);
  const options = found.flatMap((group) => group.measures);
  const title = all.flatMap((group) => group.measures).find((one) => one.id === value)?.title ?? "";
  const at = Math.min(active, options.length - 1);
  useLayoutEffect(() => {
    if (open) list.current.querySelector('[data-active="true"]')?.scrollIntoView({ block: "nearest" });
  }, [open, at, words]);
  useLayoutEffect(() => {
    if (!open && document.activeElement === field.current) field.current.select(); // so that typing begins anew
  }, [open]);

  const show = () => {
    if (open) return;
    setWords("");
    setActive(Math.max(0, all.flatMap((group) => group.measures).findIndex((one) => one.id === value)));
  };
  const take = (measure) => {
    setWords(null);
    if (measure && measure.id !== value) choose(measure.id, measure.model);
  };
  const type = (event) => {
    setWords(event.target.value);
    setActive(0);
  };
  const press = (event) => {
    if (STEPS[event.key] && !open) show();
    else if (STEPS[event.key]) setActive(Math.min(options.length - 1, Math.max(0, at + STEPS[event.key])));
    else if (event.key === "Enter" && open) take(options[at]);
    else if (event.key === "Enter") show();
    else if (event.key === "Escape" && open) setWords(null);
    else return;
    event.preventDefault();
  };
  const option = (measure) => {
    const index = options.indexOf(measure);
    return html`<li id=${`${id}-${index}`} key=${measure.id} role="option" data-id=${measure.id} data-active=${index === at ? "true" : undefined}
      aria-selected=${measure.id === value ? "true" : "false"} onPointerDown=${(event) => event.preventDefault()}
      onClick=${() => take(measure)}>${measure.title}</li>`;
  };
  return html`
    <div class="picker">
      <label for=${id}>${label}</label>
      <div class="picker-box">
        <input id=${id} ref=${field} type="text" role="combobox" autocomplete="off" spellcheck="false" data-measure=${value} value=${open ? words : title}
          placeholder=${title} aria-expanded=${open ? "true" : "false"} aria-controls=${`${id}-list`} aria-autocomplete="list"
          aria-activedescendant=${open && options.length > 0 ? `${id}-${at}` : undefined} title=${open ? undefined : title}
          onFocus=${(event) => event.target.select()} onClick=${show} onInput=${type} onKeyDown=${press} onBlur=${() => setWords(null)} />
        <div class="picker-list" hidden=${!open} ref=${list} onPointerDown=${(event) => event.preventDefault()}>
          <p class="small soft" role="status">${open && (options.length > 0 ? `${plural(options.length, "measure")}${words ? "" : ": type words to filter"}` : "No measure has all these words.")}</p>
          <ul id=${`${id}-list`} role="listbox" aria-label=${label}>
            ${found.map((group) => html`<li key=${group.label} role="group" aria-label=${group.label || none}>
              ${group.label && html`<p class="picker-group" aria-hidden="true">${group.label}</p>`}
              <ul role="none">${group.measures.map(option)}</ul>
            </li>`)}
          </ul>
        </div>
      </div>
    </div>
  `;
}

// The groups of what only other models have, under the models' titles.
function ofOthers(atlas, name) {
  const measures = measuresElsewhere(atlas, modelOf(atlas, { model: name }));
  return atlas.models.flatMap((model) => groups(atlas, measures.filter((one) => one.model === model.name)).map((group) => ({ ...group, label: `${model.title}: ${group.label}` })));
}
