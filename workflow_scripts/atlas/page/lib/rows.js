/** Rows of CSV files, and names of files. */

import { countOf, headName, layerOf, nullOf } from "./measures.js";

/**
 * One measure of a model, one row per head; layers and heads count from 1, as in `3-7`. `type` is there where
 * the model has several types of attention.
 * @returns {object[]}
 */
export function measureRows(model, measure, indices = measure.value.map((_, index) => index)) {
  return indices.map((index) => {
    const value = measure.value[index];
    const { type, layer } = layerOf(model, index);
    return {
      model: model.name,
      head: headName(model, index),
      ...(type && { type: type.name }),
      layer,
      head_number: (index % model.n_heads) + 1,
      value: measure.scale === "category" ? (measure.categories[value] ?? null) : value,
      low: measure.low?.[index],
      high: measure.high?.[index],
      n: countOf(measure, index),
      p: measure.p?.[index],
      null: nullOf(measure, index),
      label: measure.label?.[index],
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
