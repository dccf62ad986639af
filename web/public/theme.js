// Runs before the first paint, so that a chosen theme never flashes the other one. See src/app/theme.ts.
try {
  const choice = localStorage.getItem("heed-theme");
  if (choice === "light" || choice === "dark") document.documentElement.dataset.theme = choice;
} catch {
  // Storage may be forbidden: the system's theme it is.
}
