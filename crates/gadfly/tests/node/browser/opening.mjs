// Opens the same pages of a small and of a large store in turns, each in a new tab, and says how long it took until there
// was something to see, how many elements the page has and how many bytes it was sent.

import { link, part, play } from './stage.mjs';

const NAMES = ['overview', 'a long goal', 'a long loop'];
const large = process.env.GADFLY_LARGE_LINK;
const times = Number(process.env.GADFLY_TIMES);
const paths = { small: process.env.GADFLY_PATHS.split(','), large: process.env.GADFLY_LARGE_PATHS.split(',') };
const origins = { small: new URL(link).origin, large: new URL(large).origin };

await play(
  async (page, context) => {
    await page.goto(large);
    await part(page, 'run-row').first().waitFor();
    const pages = [];
    for (const [at, name] of NAMES.entries()) {
      /** @type {Record<string, {took: number[], elements: number, bytes: number}>} */
      const seen = { small: { took: [], elements: 0, bytes: 0 }, large: { took: [], elements: 0, bytes: 0 } };
      for (let n = 0; n < times; n += 1) {
        for (const which of ['small', 'large']) {
          const tab = await context.newPage();
          const begun = performance.now();
          await tab.goto(origins[which] + paths[which][at]);
          const shown = part(tab, at === 0 ? 'run-row' : 'state').first();
          // Seen twice, not understood yet: a new tab that shows nothing until it is loaded again.
          await shown.waitFor({ timeout: 30_000 }).catch(async () => {
            console.log(`${which} ${name} was loaded again`);
            await tab.reload();
            await shown.waitFor();
          });
          seen[which].took.push(performance.now() - begun);
          const sizes = await tab.evaluate(() => ({
            elements: document.querySelectorAll('*').length,
            bytes: performance.getEntriesByType('resource').reduce((sum, one) => sum + one.encodedBodySize, 0),
          }));
          seen[which].elements = sizes.elements;
          seen[which].bytes = Math.max(seen[which].bytes, sizes.bytes);
          await tab.close();
        }
      }
      const told = ({ took, elements, bytes }) => ({ p95: percentile(took), elements, bytes });
      pages.push({ name, small: told(seen.small), large: told(seen.large) });
    }
    console.log(`opened ${JSON.stringify(pages)}`);
  },
  // The filled stores leave the words of their texts out.
  { origins: [origins.large], expected: [/\/texts\//] },
);

/** @param {number[]} took */
function percentile(took) {
  const sorted = [...took].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))];
}
