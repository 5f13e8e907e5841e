// What a person likes: colours, keys. Cookies, because they hold for every port of this address, and the server has another
// one at each start. They are words like `dark`; nothing that has to stay between the page and the server is among them.

const YEAR = 365 * 24 * 60 * 60;

/** @param {string} name @param {string} value empty to forget it */
export function remember(name, value) {
  document.cookie = `gadfly-${name}=${value}; path=/; samesite=strict; max-age=${value ? YEAR : 0}`;
}

/** @param {string} name @returns {string} */
export function recall(name) {
  const all = document.cookie.split('; ').map((one) => one.split('='));
  return all.find(([known]) => known === `gadfly-${name}`)?.[1] ?? '';
}
