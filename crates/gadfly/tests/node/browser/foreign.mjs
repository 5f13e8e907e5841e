// A store that is not the user's says so above every page, with what to do about it.

import { origin, part, play } from './stage.mjs';

await play(async (page) => {
  const told = () => part(page, 'foreign-strip').filter({ hasText: 'gadfly own' }).waitFor();
  await told();
  await page.goto(`${origin}/start`);
  await told();
});
