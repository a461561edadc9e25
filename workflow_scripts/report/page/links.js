// Runs in Snakemake's report: opens a product next to the menu, for the front page and for links within a page.
function openProduct(path, fragment = "") {
  const found = results[path];
  if (!found) return;
  const content = found.mime_type === "text/html" ? "html" : "img";
  app.setView({ content, contentPath: found.data_uri + fragment, resultPath: path });
}

// Chromium opens no data URI of more than 2 MB, as the atlas's is in a report of one file, nor any in a tab. (In a handler, URL is the document's.)
function openable(uri) {
  const [, data] = uri.split(";base64,");
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return window.URL.createObjectURL(new Blob([bytes], { type: uri.slice(5, uri.indexOf(";")) }));
}

// A figure with its caption below it, which Snakemake shows behind the button "i" alone; it opens in full size.
function captioned(plain) {
  return function renderContent() {
    const { content, contentPath } = this.props.app.state;
    const shown = content === "img" && Object.values(results).find((result) => result.data_uri === contentPath);
    if (!shown || !shown.caption) return plain.call(this);
    const caption = e("figcaption", { className: "prose prose-sm max-w-none", dangerouslySetInnerHTML: { __html: shown.caption } });
    return e("figure", { className: "p-3 mx-auto self-start max-w-4xl min-w-0" }, e("a", { href: contentPath.startsWith("data:") ? openable(contentPath) : contentPath, target: "_blank", title: "Open in full size" }, e("img", { src: contentPath, className: "w-full" })), caption);
  };
}

// What is opened begins at its top. The menu covers a narrow window: what is opened from it hides it.
function opened(setView) {
  return (view) => {
    if (view.content) document.querySelector("#app .grow.overflow-auto")?.scrollTo(0, 0);
    setView(window.innerWidth < 700 && view.content ? { hideNavbar: true, ...view } : view);
  };
}

for (const link of document.querySelectorAll(".front-page .picture")) {
  const product = results[link.dataset.path];
  if (product) link.firstElementChild.src = product.data_uri;
  else link.remove();
}

if (!window.openProduct) {
  window.openProduct = openProduct;
  window.openCategory = (name) => categories[name] && app.showCategory(name);
  window.addEventListener("message", (event) => event.data?.open && openProduct(event.data.open, event.data.fragment));
  ContentDisplay.prototype.renderContent = captioned(ContentDisplay.prototype.renderContent);
  app.setView = opened(app.setView);
  if (window.innerWidth < 700) app.setView({ hideNavbar: true });
  for (const result of Object.values(results)) {
    const large = result.data_uri.startsWith("data:") && result.data_uri.length > 1e6;
    if (large && result.mime_type === "text/html") result.data_uri = openable(result.data_uri);
  }
}
