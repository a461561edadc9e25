// Runs in Snakemake's report: opens a product next to the menu, for the front page and for links within a page.
function openProduct(path, fragment = "") {
  const found = results[path];
  if (!found) return;
  const content = found.mime_type === "text/html" ? "html" : "img";
  app.setView({ content, contentPath: found.data_uri + fragment, resultPath: path });
}

// Chromium opens no data URI of more than 2 MB, as the atlas's is in a report of one file. (In a handler, URL is the document's.)
function openable(uri) {
  const [, data] = uri.split(";base64,");
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return window.URL.createObjectURL(new Blob([bytes], { type: "text/html" }));
}

if (!window.openProduct) {
  window.openProduct = openProduct;
  window.openCategory = (name) => categories[name] && app.showCategory(name);
  window.addEventListener("message", (event) => event.data?.open && openProduct(event.data.open, event.data.fragment));
  for (const result of Object.values(results)) {
    const large = result.data_uri.startsWith("data:") && result.data_uri.length > 1e6;
    if (large && result.mime_type === "text/html") result.data_uri = openable(result.data_uri);
  }
}
