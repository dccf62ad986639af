// Runs before the first paint, so that a chosen theme never flashes the other one. See src/app/theme.ts.
try {
  const choice = localStorage.getItem("heed-theme");
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
  // Storage may be forbidden: the system's theme it is.
}
// In such browsers boxes of an enlarged page are not where the pointer is. See src/app/styles/screen.css.
if (!("currentCSSZoom" in Element.prototype)) document.documentElement.dataset.zoom = "none";
