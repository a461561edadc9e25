/** All figures of the study, with their captions. */

import { html, useEffect, useRef, useState } from "../vendor/standalone.module.js";
import { format } from "../lib/fragment.js";
import { pictureOf } from "../lib/maps.js";

/** @param {{atlas, state}} props */
export function Gallery({ atlas, state }) {
  const categories = [...Map.groupBy(atlas.figures, ({ category }) => category)];
  return html`<div class="gallery">
    <h2>Figures of the study</h2>
    <nav class="row small" aria-label="Figures">${categories.map(([category, figures]) => html`<a href=${format({ ...state, figure: figures[0].id })}><bdi>${category}</bdi></a> <span class="soft">${figures.length}</span>`)}</nav>
    ${categories.map(([category, figures]) => html`<section key=${category} aria-label=${category}>
      <h3><bdi>${category}</bdi></h3>
      ${figures.map((figure) => html`<${Figure} key=${figure.id} ...${{ figure, state, asked: figure.id === state.figure }} />`)}
    </section>`)}
  </div>`;
}

function Figure({ figure, state, asked }) {
  const [address, setAddress] = useState();
  const element = useRef(null);
  const { id, title, label, caption, width, height, files = {} } = figure;
  useEffect(() => void pictureOf(id).then(setAddress), [id]);
  useEffect(() => {
    if (!asked) return;
    element.current.scrollIntoView();
    element.current.focus({ preventScroll: true });
  }, [asked]);
  return html`<figure ref=${element} tabindex="-1" aria-label=${title} aria-busy=${address ? "false" : "true"}>
    <h4><a href=${format({ ...state, figure: id })}><bdi>${title}</bdi></a>${label && html` <span class="soft"><bdi>${label}</bdi></span>`}</h4>
    <img src=${address} alt=${title} width=${Math.round((4 / 3) * width)} height=${Math.round((4 / 3) * height)} loading="lazy" />
    <figcaption class="small"><bdi>${caption.map(([mark, text]) => marked(mark, text))}</bdi> ${address && html`<a class="save" href=${address} download=${`${id.replaceAll("/", "-")}.svg`}>SVG</a>`}
      ${Object.entries(files).map(([name, text]) => html` <a class="save" href=${`data:text/plain,${encodeURIComponent(text)}`} download=${name}>${name}</a>`)}</figcaption>
  </figure>`;
}

function marked(mark, text) {
  if (mark === "literal") return html`<code>${text}</code>`;
  return mark === "emphasis" ? html`<em>${text}</em>` : text;
}
