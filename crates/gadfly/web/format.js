// How what the server tells looks: icons and colours of states and verdicts, amounts, ages. The words for a state come from
// the server with the run.

/**
 * @typedef {'run' | 'ask' | 'good' | 'warn' | 'bad' | 'calm'} Tone
 * @typedef {{word: string, icon: string, tone: Tone}} Shown
 * @typedef {{tone: string, head: string, body?: string}} Says
 */

/** @type {Record<string, {icon: string, tone: Tone}>} */
const STATES = {
  running: { icon: 'run', tone: 'run' },
  interrupted: { icon: 'cut', tone: 'warn' },
  approved: { icon: 'check', tone: 'good' },
  rejected: { icon: 'cross', tone: 'bad' },
  halted: { icon: 'stop', tone: 'bad' },
  waiting: { icon: 'clock', tone: 'warn' },
  unverified: { icon: 'doubt', tone: 'warn' },
  out_of_budget: { icon: 'coin', tone: 'warn' },
  aborted: { icon: 'ban', tone: 'calm' },
  failed: { icon: 'alert', tone: 'bad' },
};

/** How the tones of a state look; an icon where it says more than that of its class. @type {Record<string, {tone: Tone, icon?: string}>} */
const TONES = {
  working: { tone: 'run' },
  person: { tone: 'ask', icon: 'ask' },
  good: { tone: 'good' },
  bad: { tone: 'bad' },
  warning: { tone: 'warn' },
  doubt: { tone: 'warn', icon: 'doubt' },
  paused: { tone: 'calm', icon: 'pause' },
  plain: { tone: 'calm' },
};

/** @param {string} label `halted(cap)` @returns {string} `halted` */
export function stateClass(label) {
  return label.split('(')[0] ?? label;
}

/** @param {{state: string, says: Says}} run @returns {Shown} */
export function state(run) {
  const { tone, icon } = TONES[run.says.tone] ?? { tone: 'warn' };
  return { word: run.says.head, icon: icon ?? STATES[stateClass(run.state)]?.icon ?? 'doubt', tone };
}

/** @param {string} name a state class as a filter @returns {Shown} */
export function stateFilter(name) {
  return { word: name.replaceAll('_', ' '), ...(STATES[name] ?? { icon: 'doubt', tone: 'warn' }) };
}

/** A person has to do something. @param {{state: string}} run */
export function needsPerson(run) {
  return run.state === 'waiting(question)' || run.state === 'waiting(approval)' || run.state === 'failed';
}

/** @param {string | null | undefined} verdict @returns {Shown | undefined} */
export function verdict(verdict) {
  if (verdict === 'approved') return { word: 'approved', icon: 'check', tone: 'good' };
  if (verdict === 'rejected') return { word: 'rejected', icon: 'cross', tone: 'bad' };
  if (verdict === 'unverified') return { word: 'unverified', icon: 'doubt', tone: 'warn' };
  return undefined;
}

/** @param {number} n @param {string} one @param {string} [many] */
export function counted(n, one, many = `${one}s`) {
  return `${whole(n)} ${n === 1 ? one : many}`;
}

/** @param {number} n */
export function whole(n) {
  return Math.round(n).toLocaleString('en-US');
}

/** @param {number} n 12,300 as 12.3k */
export function short(n) {
  if (n < 10_000) return whole(n);
  if (n < 1_000_000) return `${trimmed(n / 1000)}k`;
  return `${trimmed(n / 1_000_000)}M`;
}

/** @param {number} n */
function trimmed(n) {
  return n >= 100 ? String(Math.round(n)) : n.toFixed(1).replace(/\.0$/, '');
}

/** @param {number} usd */
export function money(usd) {
  if (usd > 0 && usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toFixed(2)}`;
}

/** As the journal keeps it. @param {number} billionths */
export function nanos(billionths) {
  return billionths / 1e9;
}

/** @param {number} n of bytes */
export function bytes(n) {
  if (n < 1024) return counted(n, 'byte');
  if (n < 1 << 20) return `${trimmed(n / 1024)} KiB`;
  return `${trimmed(n / (1 << 20))} MiB`;
}

/** @param {number} ms as a clock: 1:05, 2:03:10 */
export function clock(ms) {
  const seconds = Math.floor(ms / 1000);
  const [hh, mm, ss] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  return hh > 0 ? `${hh}:${two(mm)}:${two(ss)}` : `${mm}:${two(ss)}`;
}

/** @param {number} ms how long something took */
export function took(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${trimmed(ms / 1000)} s` : clock(ms);
}

/** @param {number} at_ms @param {number} now_ms @returns {string} `3 min ago` */
export function age(at_ms, now_ms) {
  const seconds = Math.max(0, Math.round((now_ms - at_ms) / 1000));
  if (seconds < 5) return 'just now';
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 60 * 86400) return `${Math.round(seconds / 86400)} days ago`;
  return new Date(at_ms).toISOString().slice(0, 10);
}

/** @param {number} at_ms */
export function moment(at_ms) {
  const at = new Date(at_ms);
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** @param {{path: string, line?: number, end?: number} | undefined} place @returns {string} `src/a.rs:12-14` */
export function placed(place) {
  if (!place) return '';
  if (place.line === undefined) return place.path;
  const end = place.end !== undefined && place.end !== place.line ? `-${place.end}` : '';
  return `${place.path}:${place.line}${end}`;
}

/** @type {Record<string, Shown>} */
const AGENTS = {
  pending: { word: 'pending', icon: 'clock', tone: 'calm' },
  working: { word: 'at work', icon: 'run', tone: 'run' },
  done: { word: 'done', icon: 'check', tone: 'good' },
  blocked: { word: 'blocked', icon: 'ban', tone: 'bad' },
};

/** @param {string} status of an agent of a pipeline @param {string} run how the run stands @returns {Shown} */
export function agentStatus(status, run) {
  // Nobody works in a run that is not under way.
  if (status === 'working' && run !== 'running') return { word: 'not done', icon: 'pause', tone: 'warn' };
  return AGENTS[status] ?? { word: status, icon: 'doubt', tone: 'warn' };
}

/** Whose round it is in a pipeline: `run/writer.2` is the second dispatch of the writer. @param {string} node */
export function agentOf(node) {
  return (node.split('/')[1] ?? '').replace(/\.\d+$/, '');
}
