// The theme's buttons that open a part of the navigation have a picture and no name: they get that of the page they follow.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary .toctree-toggle")) {
    const link = toggle.closest("li").querySelector("a");
    toggle.parentElement.setAttribute("aria-label", `Pages of ${link.textContent.trim()}`);
  }
});
