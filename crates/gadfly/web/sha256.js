// SHA-256 and HMAC over it. Browsers have both only for pages of this machine or over TLS; a dashboard that other
// machines may see is neither, so that the page brings its own.

const BLOCK = 64;

/** The standard's words. @param {string} words */
const table = (words) => Int32Array.from(words.trim().split(/\s+/), (word) => Number.parseInt(word, 16));

const START = table('6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19');
const ROUNDS = table(`
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5
  d807aa98 12835b01 243185be 550c7dc3 72be5d74 80deb1fe 9bdc06a7 c19bf174
  e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
  983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967
  27b70a85 2e1b2138 4d2c6dfc 53380d13 650a7354 766a0abb 81c2c92e 92722c85
  a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
  19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3
  748f82ee 78a5636f 84c87814 8cc70208 90befffa a4506ceb bef9a3f7 c67178f2
`);

/** @param {Uint8Array} bytes @returns {Uint8Array} */
export function sha256(bytes) {
  const state = Int32Array.from(START);
  const words = new Int32Array(64);
  const whole = bytes.length - (bytes.length % BLOCK);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole; at += BLOCK) block(state, words, view, at);
  // The rest, a one, zeros, and how many bits there were.
  const rest = bytes.subarray(whole);
  const last = new Uint8Array(rest.length + 9 <= BLOCK ? BLOCK : 2 * BLOCK);
  last.set(rest);
  last[rest.length] = 0x80;
  const end = new DataView(last.buffer);
  end.setUint32(last.length - 8, Math.floor(bytes.length / 2 ** 29));
  end.setUint32(last.length - 4, (bytes.length << 3) >>> 0);
  for (let at = 0; at < last.length; at += BLOCK) block(state, words, end, at);
  const digest = new Uint8Array(32);
  state.forEach((word, at) => new DataView(digest.buffer).setInt32(4 * at, word));
  return digest;
}

/** @param {number} word @param {number} by */
const turned = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {Int32Array} state @param {Int32Array} words @param {DataView} view @param {number} from */
function block(state, words, view, from) {
  for (let n = 0; n < 16; n += 1) words[n] = view.getInt32(from + 4 * n);
  for (let n = 16; n < 64; n += 1) {
    const [x, y] = [words[n - 15], words[n - 2]];
    const low = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
    const high = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
    words[n] = words[n - 16] + low + words[n - 7] + high;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let n = 0; n < 64; n += 1) {
    const big = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + big + ((e & f) ^ (~e & g)) + ROUNDS[n] + words[n]) | 0;
    const small = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const two = (small + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, at) => (state[at] += word));
}

/** @param {Uint8Array} key @param {Uint8Array} bytes @returns {Uint8Array} */
export function hmac(key, bytes) {
  const padded = new Uint8Array(BLOCK);
  padded.set(key.length > BLOCK ? sha256(key) : key);
  const keyed = (/** @type {number} */ mask, /** @type {Uint8Array} */ text) => {
    const all = new Uint8Array(BLOCK + text.length);
    all.set(padded.map((byte) => byte ^ mask));
    all.set(text, BLOCK);
    return sha256(all);
  };
  return keyed(0x5c, keyed(0x36, bytes));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {string} text @returns {Uint8Array} */
export function unhex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (two) => Number.parseInt(two, 16));
}
