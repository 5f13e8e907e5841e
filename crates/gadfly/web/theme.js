// Which of light and dark is shown, before anything is painted: a classic script in the head, so that a page never
// flashes. The button that changes it is in shell.js.
(function () {
  'use strict';
  try {
    const chosen = localStorage.getItem('gadfly.theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // Without storage the system's choice holds.
  }
})();
