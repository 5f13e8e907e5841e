// Photographs the dashboard for the README: node shots.mjs LINK FOLDER. Part of scripts/make-pictures.
//
// Each picture is reduced to the 256 colours that show it best: a page of text has few, and the files stay small.

import { existsSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

const { chromium } = createRequire(new URL('../../crates/gadfly/tests/node/package.json', import.meta.url))('playwright-core');
const WHERE = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const MOST_BYTES = 150_000;

/** Name, colours, words of the run's title (none: the overview), height, and what must be on the page. */
const PICTURES = [
  ['overview-light', 'light', '', 800, '[data-testid="run-row"]'],
  ['overview-dark', 'dark', '', 800, '[data-testid="run-row"]'],
  ['loop', 'light', 'escalation:', 900, '[data-testid="matrix-cell"]'],
  ['goal', 'dark', 'misled:', 900, '[data-testid="rail-entry"]'],
  ['pipeline', 'light', 'orders:', 900, '[data-testid="graph-node"]'],
];

const [link, folder] = process.argv.slice(2);
const executablePath = process.env.GADFLY_CHROMIUM ?? WHERE.find((path) => existsSync(path));
const flags = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
const browser = await chromium.launch({ executablePath, args: flags, chromiumSandbox: false });
for (const [name, colorScheme, title, height, mark] of PICTURES) {
  const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme, reducedMotion: 'reduce', locale: 'en-GB' });
  await page.goto(link);
  await page.locator('[data-testid="run-row"]').first().waitFor();
  if (title) await page.locator('a[href^="/runs/"]', { hasText: title }).first().click();
  await page.locator(mark).first().waitFor();
  // Texts come after the page; when none is on its way any more, it is whole.
  await page.waitForTimeout(300);
  await page.getByText(/^(Fetching|Comparing|Looking)…$/).first().waitFor({ state: 'detached' });
  const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const file = await reduced(shot);
  if (file.length > MOST_BYTES) throw new Error(`${name}.png would have ${file.length} bytes`);
  writeFileSync(join(folder, `${name}.png`), file);
  console.log(`wrote docs/images/${name}.png (${Math.round(file.length / 1000)} kB)`);
  await page.close();
}
await browser.close();

/** @param {Buffer} shot @returns {Promise<Buffer>} */
async function reduced(shot) {
  const blank = await browser.newPage();
  const { width, height, pixels } = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const drawing = canvas.getContext('2d');
    drawing.drawImage(picture, 0, 0);
    const { data } = drawing.getImageData(0, 0, picture.width, picture.height);
    let text = '';
    for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at, at + 0x8000));
    return { width: picture.width, height: picture.height, pixels: btoa(text) };
  }, shot.toString('base64'));
  await blank.close();
  return indexed(width, height, Buffer.from(pixels, 'base64'));
}

/** A PNG with a palette. @param {number} width @param {number} height @param {Buffer} rgba @returns {Buffer} */
function indexed(width, height, rgba) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let at = 0; at < rgba.length; at += 4) {
    const colour = (rgba[at] << 16) | (rgba[at + 1] << 8) | rgba[at + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = chosen(counts);
  const nearest = new Map([...counts.keys()].map((colour) => [colour, closest(palette, colour)]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 4) {
      rows[y * (width + 1) + 1 + x] = nearest.get((rgba[at] << 16) | (rgba[at + 1] << 8) | rgba[at + 2]) ?? 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((c) => [c >> 16, (c >> 8) & 255, c & 255]));
  const sign = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([sign, chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', deflateSync(rows, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
}

/** Boxes of colours, cut in two where they differ most, until there are enough. @param {Map<number, number>} counts @returns {number[]} */
function chosen(counts) {
  let boxes = [[...counts]];
  while (boxes.length < 256) {
    const spread = boxes.map((box) => (box.length < 2 ? [0, 0] : widest(box)));
    const at = spread.reduce((best, one, i) => (one[0] > spread[best][0] ? i : best), 0);
    if (spread[at][0] === 0) break;
    const shift = spread[at][1];
    const box = boxes[at].sort((a, b) => ((a[0] >> shift) & 255) - ((b[0] >> shift) & 255));
    const middle = Math.max(1, Math.floor(box.length / 2));
    boxes = [...boxes.slice(0, at), box.slice(0, middle), box.slice(middle), ...boxes.slice(at + 1)];
  }
  // The colour most of a box has: large plain grounds keep exactly theirs.
  return boxes.map((box) => box.reduce((best, one) => (one[1] > best[1] ? one : best))[0]);
}

/** @param {[number, number][]} box @returns {[number, number]} how much it differs, weighed, and in which channel */
function widest(box) {
  const weight = Math.log2(2 + box.reduce((sum, [, n]) => sum + n, 0));
  const ranges = [16, 8, 0].map((shift) => {
    const values = box.map(([colour]) => (colour >> shift) & 255);
    return [(Math.max(...values) - Math.min(...values)) * weight, shift];
  });
  return /** @type {[number, number]} */ (ranges.reduce((a, b) => (b[0] > a[0] ? b : a)));
}

/** @param {number[]} palette @param {number} colour */
function closest(palette, colour) {
  const far = (/** @type {number} */ c) => [16, 8, 0].reduce((sum, s) => sum + (((c >> s) & 255) - ((colour >> s) & 255)) ** 2, 0);
  return palette.reduce((best, c, i) => (far(c) < far(palette[best]) ? i : best), 0);
}

/** @param {string} kind @param {Buffer} data */
function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

/** @param {Buffer} bytes */
function crc(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}
