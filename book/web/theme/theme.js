// theme.js: the theme that the reader chose, before anything is drawn.
try {
  const chosen = localStorage.getItem('theme');
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch {
  /* a page from disk may have no storage */
}
