// Which of light and dark is shown, before anything is painted: a classic script in the head, so that a page never
// flashes. The button that changes it is in shell.js.
(function () {
  'use strict';
  // A cookie, because the server has another port, and with it the page other storage, at each start.
  const chosen = /(?:^|; )gadfly-theme=(light|dark)(?:;|$)/.exec(document.cookie)?.[1];
  if (chosen) document.documentElement.dataset.theme = chosen;
})();
