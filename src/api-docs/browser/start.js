// Runs in the browser: shows the document that the page names.
const reference = document.getElementById("reference");
if (matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark-mode");
globalThis.SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  filter: true,
  // A request would have to be signed, and the page has no key.
  supportedSubmitMethods: [],
  validatorUrl: null,
});
