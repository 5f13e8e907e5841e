// What must not happen, done on purpose: the page's policy stops it, and the watch over every scenario notices it.

import assert from 'node:assert/strict';
import { accessible, fits, part, play } from './stage.mjs';

await play(async (page) => {
  await part(page, 'run-row').first().waitFor();
  const did = await page.evaluate(async () => {
    // Each in a task of its own: what is called from outside the page is held to less.
    const attempt = (/** @type {() => unknown} */ act) => new Promise((told) => {
      setTimeout(async () => {
        try {
          await act();
          told('done');
        } catch {
          told('refused');
        }
      });
    });
    const inline = await attempt(() => {
      const script = document.createElement('script');
      script.textContent = 'window.pwned = 1';
      document.body.append(script);
    });
    const markup = await attempt(() => {
      document.createElement('div').innerHTML = '<img src=x onerror="window.pwned = 1">';
    });
    const evaluated = await attempt(() => globalThis.eval('window.pwned = 1'));
    const elsewhere = await attempt(() => fetch('http://127.0.0.2:9/'));
    const handler = await attempt(() => {
      const button = document.createElement('button');
      button.setAttribute('onclick', 'window.pwned = 1');
      document.body.append(button);
      button.click();
      button.remove();
    });
    return { inline, markup, evaluated, elsewhere, handler, ran: 'pwned' in window };
  });
  assert.equal(did.ran, false, JSON.stringify(did));
  assert.deepEqual([did.markup, did.evaluated, did.elsewhere], ['refused', 'refused', 'refused']);
  const framed = await page.request.get(page.url());
  assert.match(framed.headers()['content-security-policy'], /frame-ancestors 'none'/);

  await page.evaluate(() => {
    const picture = document.createElement('img');
    document.querySelector('main')?.append(picture);
    const wide = document.createElement('div');
    wide.style.setProperty('width', '5000px');
    wide.style.setProperty('height', '1px');
    document.querySelector('main')?.append(wide);
    setTimeout(() => {
      throw new Error('thrown on purpose');
    });
    console.error('said on purpose');
  });
  await assert.rejects(accessible(page, 'this page'), /image-alt/);
  await assert.rejects(fits(page, 'this page'), /5\d\d\d px wide/);
}, { faults: [/said on purpose/, /page error: .*thrown on purpose/s, /Content Security Policy|Trusted ?Type|Trusted ?Script|TrustedHTML/] });
