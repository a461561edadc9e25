/** The stored maps of texts, and the text that shows best what is said of a head. */

import { useEffect, useMemo, useState } from "../vendor/standalone.module.js";
import { segmentOf, segmentsOf } from "../lib/choice.js";
import { bestText, goalOf } from "../lib/examples.js";
import { number, plural } from "../lib/format.js";
import { loadMaps } from "../lib/maps.js";
import { placeOf } from "../lib/measures.js";
import { goalName, profile } from "../lib/summary.js";

const MOST_TEXTS = 8; // as many maps as are kept

/**
 * Maps by their ids, null for a null id; `error` states what is wrong, neither is there while they load.
 * @param {object} atlas
 * @param {(string|null)[]} ids
 * @returns {{maps?: object[], error?: string}}
 */
export function useMaps(atlas, ids) {
  const [found, setFound] = useState({});
  const key = ids.join(" ");
  useEffect(() => {
    let wanted = true;
    const all = Promise.all(ids.map((id) => (id ? loadMaps(atlas, id) : null)));
    all.then(
      (maps) => wanted && setFound({ key, maps }),
      (error) => wanted && setFound({ key, error: error.message }),
    );
    return () => {
      wanted = false;
    };
  }, [key]);
  return found.key === key ? found : {};
}

// What a card's first line is about, where texts can show it.
function goalMeasure(line) {
  return line?.measure && goalOf(line.measure.id) ? line.measure : null;
}

/** The text of the address, else the one on which what the card begins with shows most; `note` states this; `dim`: whether it is not about special tokens. */
export function useText(atlas, model, index, measures, state) {
  const own = segmentOf(atlas, model, state.segment, state.state);
  const about = useMemo(() => (state.segment || model.types ? null : goalMeasure(profile(model, measures, index)[0])), [model, measures, index, state.segment]);
  const name = state.state ?? model.states[0].name;
  const texts = about ? segmentsOf(atlas, model).filter((segment) => segment.maps[name]).slice(0, MOST_TEXTS) : [];
  const { maps, error } = useMaps(atlas, texts.map((segment) => segment.maps[name]));
  return useMemo(() => {
    if (!about || error || texts.length < 2) return { segment: own };
    if (!maps) return { loading: true };
    const [layer, head] = placeOf(model, index);
    const goal = goalOf(about.id);
    const best = bestText(goal, texts.map((segment, place) => ({ segment, map: maps[place].head(layer, head) })));
    if (!best) return { segment: own };
    const note = `Of ${texts.length} texts, the one with the most attention to ${goalName(model, goal)}: ${number(100 * best.share, 0)}%, the mean of ${plural(best.n, "token")} that can attend so.`;
    return { segment: best.segment, note, dim: !["cls", "sep", "first"].includes(goal) };
  }, [about, own, maps, error]);
}
