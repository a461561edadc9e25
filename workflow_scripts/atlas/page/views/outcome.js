/** The gold label of a task's example, and what the checkpoint that is shown predicts. */

import { html } from "../vendor/standalone.module.js";
import { outcomeText } from "../lib/outcome.js";

const ABOUT = "The gold label, and what the checkpoint predicts: the class with the largest softmax probability, or a score.";

/** Both next to a text; nothing where it has no label. */
export function Outcome({ segment, state }) {
  const text = outcomeText(segment, state);
  return text && html`<span class="outcome" title=${ABOUT}><bdi>${text}</bdi></span>`;
}
