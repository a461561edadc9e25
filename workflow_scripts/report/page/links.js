// Runs in Snakemake's report: opens a product beside the menu, for the front page and for links within a page.
function openProduct(path, fragment = "") {
  const found = results[path];
  if (!found) return;
  const content = found.mime_type === "text/html" ? "html" : "img";
  app.setView({ content, contentPath: found.data_uri + fragment, resultPath: path });
}
if (!window.openProduct) {
  window.openProduct = openProduct;
  window.openCategory = (name) => categories[name] && app.showCategory(name);
  window.addEventListener("message", (event) => event.data?.open && openProduct(event.data.open, event.data.fragment));
}
