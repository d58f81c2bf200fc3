// Sets the theme before anything is painted: a script of its own, since the page may hold none inline.
// "dark" or "light" is what the person chose; anything else follows the system.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("lyrebird.theme");
  } catch {
    // Storage may be forbidden; then the system decides.
  }
  const isDark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", isDark);
})();
