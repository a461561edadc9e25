/** Rows of CSV files, and names of files. */

import { countOf, layerOf, nullOf } from "./measures.js";
import { badgesAt, badgesOf } from "./roles.js";

/**
 * The columns that name a head, as integers from 1: a spreadsheet would read `3-7` as a date, and from 0, as in
 * Parquet files. `type` is there where the model has several types of attention.
 * @returns {{type?: string, layer: number, head: number, layer_from_0: number, head_from_0: number}}
 */
export function headColumns(model, index) {
  const { type, layer } = layerOf(model, index);
  const head = index % model.n_heads;
  return { ...(type && { type: type.name }), layer, head: head + 1, layer_from_0: layer - 1, head_from_0: head };
}

/**
 * One measure of a model, one row per head.
 * @returns {object[]}
 */
export function measureRows(model, measure) {
  return measure.value.map((value, index) => {
    return {
      model: model.name,
      ...headColumns(model, index),
      value: measure.scale === "category" ? (measure.categories[value] ?? null) : value,
      low: measure.low?.[index],
      high: measure.high?.[index],
      n: countOf(measure, index),
      p: measure.p?.[index],
      null: nullOf(measure, index),
      label: measure.label?.[index],
      ...(badgesOf(model).length > 0 && { roles: badgesAt(model, index).map(({ id }) => id).join(";") }),
      unit: measure.unit,
      measure: measure.title,
      measure_id: measure.id,
      state: measure.state,
    };
  });
}

/** A file's name from its parts. */
export function fileName(...parts) {
  return parts.filter(Boolean).join("-");
}
