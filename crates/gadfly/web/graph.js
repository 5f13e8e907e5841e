// The graph of a pipeline: agents in layers, each after those it builds on. Nodes are buttons; the picture scrolls by
// itself on narrow screens.

import { h } from './dom.js';
import * as say from './format.js';
import { cut, oneLine, safeLine } from './text.js';

const WIDTH = 172;
const HEIGHT = 68;
const ACROSS = 27;
const DOWN = 18;
const EDGE = 8;
/** Ways past a layer run below all nodes, side by side, in this many lanes. */
const LANES = 6;
const LANE = 7;

/**
 * @param {any[]} agents
 * @param {[string, string][]} edges
 * @param {string | undefined} chosen
 * @param {(agent: string) => void} choose
 */
export function graph(agents, edges, chosen, choose) {
  const layers = layered(
    agents.map((a) => a.agent),
    edges,
  );
  /** @type {Map<string, {x: number, y: number}>} */
  const at = new Map();
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  const inner = tallest * (HEIGHT + DOWN) - DOWN + 2 * EDGE;
  layers.forEach((layer, column) => {
    const top = (inner - (layer.length * (HEIGHT + DOWN) - DOWN)) / 2;
    layer.forEach((agent, i) => at.set(agent, { x: EDGE + column * (WIDTH + ACROSS), y: top + i * (HEIGHT + DOWN) }));
  });
  const width = layers.length * (WIDTH + ACROSS) - ACROSS + 2 * EDGE;
  const byName = new Map(agents.map((a) => [a.agent, a]));
  const drawn = edges.filter(([from, to]) => at.has(from) && at.has(to));
  const long = drawn.filter(([from, to]) => (at.get(to)?.x ?? 0) - (at.get(from)?.x ?? 0) > WIDTH + ACROSS + 1);
  const height = inner + Math.min(long.length, LANES) * LANE;
  const lane = (/** @type {[string, string]} */ one) => {
    const i = long.indexOf(one);
    return i < 0 ? undefined : inner - EDGE / 2 + ((i % LANES) + 1) * LANE;
  };
  return h(
    'div',
    { class: 'graph', tabindex: '0', role: 'group', 'aria-label': 'Graph of agents' },
    h(
      'svg',
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: 'group',
        'aria-label': 'Agents and what they build on',
      },
      [
        h(
          'g',
          { 'aria-hidden': 'true' },
          drawn.map((one) =>
            edge(
              at.get(one[0]),
              at.get(one[1]),
              lane(one),
              one.join(' '),
              one.includes(chosen ?? ''),
              byName.get(one[0])?.status === 'done',
            ),
          ),
        ),
        [...at].map(([agent, place]) => node(byName.get(agent), place, agent === chosen, choose)),
      ],
    ),
  );
}

/** @param {any} from @param {any} to @param {number | undefined} lane @param {string} key @param {boolean} near @param {boolean} done */
function edge(from, to, lane, key, near, done) {
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  const bend = ACROSS / 2;
  const straight = `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  const below = `C${x1 + ACROSS} ${y1} ${x1} ${lane} ${x1 + ACROSS + 20} ${lane}H${x2 - ACROSS - 20}C${x2} ${lane} ${x2 - ACROSS} ${y2} ${x2} ${y2}`;
  return h('path', {
    key,
    class: `edge${near ? ' near' : ''}${done ? ' done' : ''}`,
    d: `M${x1} ${y1}${lane === undefined ? straight : below}`,
  });
}

/** @param {any} agent @param {{x: number, y: number}} place @param {boolean} chosen @param {(agent: string) => void} choose */
function node(agent, place, chosen, choose) {
  const shown = say.agentStatus(agent.status, agent.run);
  const rounds =
    agent.rounds > 0
      ? `${agent.rounds} round${agent.rounds === 1 ? '' : 's'}${agent.dispatches > 1 ? `, sent ${agent.dispatches}×` : ''}`
      : '';
  const critic =
    agent.critic && agent.critic !== agent.agent ? agent.critic : agent.critic ? 'judges others' : 'no critic';
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    choose(agent.agent);
  };
  return h(
    'g',
    {
      key: agent.agent,
      class: `node tone-${shown.tone}${chosen ? ' chosen' : ''}`,
      transform: `translate(${place.x} ${place.y})`,
      tabindex: '0',
      role: 'button',
      'aria-pressed': String(chosen),
      'data-testid': 'graph-node',
      'data-agent': agent.agent,
      'data-status': agent.status,
      on: { click: () => choose(agent.agent), keydown: pressed },
    },
    [
      h('rect', { class: 'box', width: WIDTH, height: HEIGHT, rx: 9 }),
      h('rect', { class: 'side', width: 5, height: HEIGHT - 20, x: 7, y: 10, rx: 2.5 }),
      // The texts are the button's name: a space keeps them apart.
      h('text', { class: 'name', x: 20, y: 24 }, `${cut(safeLine(oneLine(agent.agent)), 18)} `),
      h('text', { class: 'more', x: 20, y: 42 }, `${cut(safeLine(oneLine(critic)), 17)} `),
      h('text', { class: 'more', x: 20, y: 59 }, `${cut([shown.word, rounds].filter(Boolean).join(' · '), 25)} `),
      agent.score === undefined
        ? null
        : h('text', { class: 'node-score', x: WIDTH - 10, y: 41, 'text-anchor': 'end' }, String(agent.score)),
    ],
  );
}

/** Longest way first, then near to those before. @param {string[]} names @param {[string, string][]} edges @returns {string[][]} */
export function layered(names, edges) {
  const known = new Set(names);
  const real = edges.filter(([from, to]) => known.has(from) && known.has(to) && from !== to);
  /** @type {Map<string, number>} */
  const depth = new Map(names.map((name) => [name, 0]));
  // A registry has no circles; if one comes all the same, the passes have an end.
  for (let pass = 0; pass < names.length; pass += 1) {
    let moved = false;
    for (const [from, to] of real) {
      const next = (depth.get(from) ?? 0) + 1;
      if (next > (depth.get(to) ?? 0) && next < names.length) {
        depth.set(to, next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  /** @type {string[][]} */
  const layers = [];
  for (const name of names) (layers[depth.get(name) ?? 0] ??= []).push(name);
  const rows = layers.filter(Boolean);
  /** @type {Map<string, number>} */
  const place = new Map();
  for (const row of rows) {
    const mean = (/** @type {string} */ name) => {
      const before = real.filter(([, to]) => to === name).map(([from]) => place.get(from) ?? 0);
      return before.length > 0 ? before.reduce((a, b) => a + b, 0) / before.length : 0;
    };
    row.sort((a, b) => mean(a) - mean(b));
    row.forEach((name, i) => place.set(name, i - (row.length - 1) / 2));
  }
  return rows;
}
