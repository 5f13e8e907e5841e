// Elements from values: `h` describes one, `mount` shows a list of descriptions and changes only what differs from the
// last one, so that focus, scrolling, open details and half-typed answers stay. Strings become text, never markup.

import { safeLine, safeText } from './text.js';

/**
 * @typedef {object} Node one described element, text or widget
 * @property {string} tag
 * @property {Record<string, any>} props
 * @property {Node[]} children
 * @property {string | undefined} key
 * @property {any} [el] what it became on the page
 * @property {Widget} [made]
 *
 * @typedef {object} Widget a part of the page that keeps its own elements
 * @property {Element} el
 * @property {(props: any) => void} [update]
 * @property {() => void} [destroy]
 */

const SVG = 'http://www.w3.org/2000/svg';
const TEXT = '#text';
const WIDGET = '#widget';
/** Set as properties: their attributes only say how an element begins. */
const LIVE = new Set(['value', 'checked', 'disabled', 'open', 'selected', 'hidden', 'indeterminate']);

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [props] attributes; `on` are handlers, `style` CSS properties, `ref` gets the element
 * @param {...any} children strings, nodes, lists of them; null, false and undefined are left out
 * @returns {Node}
 */
export function h(tag, props, ...children) {
  const own = props ?? {};
  return { tag, props: own, key: own.key, children: described(children, []) };
}

/**
 * @param {(props: any) => Widget} create
 * @param {any} props
 * @param {string} key
 * @returns {Node}
 */
export function widget(create, props, key) {
  return { tag: WIDGET, props: { create, props }, key, children: [] };
}

/** What a model or a file says: its direction is its own. @param {unknown} text @param {Record<string, any>} [props] */
export function said(text, props = {}) {
  const { tag = 'span', ...rest } = props;
  return h(tag, { ...rest, class: `said ${rest.class ?? ''}`.trim(), dir: 'auto' }, String(text ?? ''));
}

/** @param {any[]} given @param {Node[]} into @returns {Node[]} */
function described(given, into) {
  for (const one of given) {
    if (one === null || one === undefined || one === false || one === true) continue;
    if (Array.isArray(one)) described(one, into);
    else if (typeof one === 'object') into.push(one);
    else addText(String(one), into);
  }
  return into;
}

/** @param {string} text @param {Node[]} into */
function addText(text, into) {
  for (const piece of safeText(text)) {
    if (typeof piece === 'string') into.push({ tag: TEXT, props: { text: piece }, key: undefined, children: [] });
    else into.push(h('span', { class: 'mark', title: piece.name }, piece.mark));
  }
}

/**
 * A place on the page that shows a list of nodes.
 * @param {Element} parent
 */
export function mount(parent) {
  /** @type {Node[]} */
  let shown = [];
  parent.replaceChildren();
  return {
    /** @param {any} nodes */
    show(nodes) {
      const focused = document.activeElement;
      const around = places(focused, parent);
      const next = described([nodes], []);
      patchAll(parent, shown, next, parent.namespaceURI === SVG);
      shown = next;
      if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
        focused.focus({ preventScroll: true });
      } else if (around.length > 0 && !focused?.isConnected) {
        // What had the focus is gone: reading goes on where it was, not at the top.
        around.find((el) => el.isConnected)?.focus({ preventScroll: true });
      }
    },
    clear() {
      for (const node of shown) gone(node);
      parent.replaceChildren();
      shown = [];
    },
  };
}

/** What around an element can have the focus, from the inside out. @param {Element | null} from @param {Element} within @returns {HTMLElement[]} */
function places(from, within) {
  const found = [];
  if (!from || !within.contains(from)) return [];
  for (let el = from.parentElement?.closest('[tabindex]'); el; el = el.parentElement?.closest('[tabindex]')) {
    if (el instanceof HTMLElement) found.push(el);
  }
  return found;
}

/** @param {Element} parent @param {Node[]} before @param {Node[]} after @param {boolean} svg */
function patchAll(parent, before, after, svg) {
  /** @type {Map<string, Node>} */
  const keyed = new Map();
  /** @type {Node[]} */
  const loose = [];
  for (const node of before) {
    if (node.key !== undefined && !keyed.has(node.key)) keyed.set(node.key, node);
    else loose.push(node);
  }
  const kept = new Set();
  let nextLoose = 0;
  const pairs = after.map((node) => {
    let old;
    if (node.key !== undefined) old = keyed.get(node.key);
    else old = loose[nextLoose++];
    if (!old || kept.has(old) || old.tag !== node.tag || !sameWidget(old, node)) return { node, old: undefined };
    kept.add(old);
    return { node, old };
  });
  for (const node of before) {
    if (kept.has(node)) continue;
    gone(node);
    node.el?.remove();
  }
  let at = parent.firstChild;
  for (const { node, old } of pairs) {
    // The same description again: nothing in it can have changed.
    if (old === node) node.el ??= old.el;
    else if (old) patch(old, node, svg);
    else create(node, svg);
    if (at && node.el === at) at = at.nextSibling;
    else parent.insertBefore(node.el, at);
  }
}

/** @param {Node} a @param {Node} b */
function sameWidget(a, b) {
  return a.tag !== WIDGET || a.props.create === b.props.create;
}

/** @param {Node} node @param {boolean} svg */
function create(node, svg) {
  if (node.tag === TEXT) {
    node.el = document.createTextNode(node.props.text);
    return;
  }
  if (node.tag === WIDGET) {
    node.made = node.props.create(node.props.props);
    node.el = node.made?.el;
    return;
  }
  const inSvg = svg || node.tag === 'svg';
  const el = inSvg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  node.el = el;
  for (const child of node.children) {
    create(child, inSvg);
    el.append(child.el);
  }
  // After the children: a select takes its value only then.
  for (const name of Object.keys(node.props)) setProp(el, name, undefined, node.props[name]);
  node.props.ref?.(el);
}

/** @param {Node} old @param {Node} node @param {boolean} svg */
function patch(old, node, svg) {
  const el = old.el;
  node.el = el;
  if (node.tag === TEXT) {
    if (old.props.text !== node.props.text) el.data = node.props.text;
    return;
  }
  if (node.tag === WIDGET) {
    node.made = old.made;
    node.made?.update?.(node.props.props);
    return;
  }
  patchAll(el, old.children, node.children, svg || node.tag === 'svg');
  for (const name of Object.keys(old.props)) {
    if (!(name in node.props)) setProp(el, name, old.props[name], undefined);
  }
  for (const name of Object.keys(node.props)) setProp(el, name, old.props[name], node.props[name]);
}

/** @param {Node} node */
function gone(node) {
  node.made?.destroy?.();
  for (const child of node.children) gone(child);
}

/** @param {any} el @param {string} name @param {any} before @param {any} now */
function setProp(el, name, before, now) {
  if (name === 'key' || name === 'ref' || before === now) return;
  if (name === 'on') return setHandlers(el, before ?? {}, now ?? {});
  if (name === 'style') return setStyle(el, before ?? {}, now ?? {});
  if (LIVE.has(name) && name in el) {
    el[name] = now ?? (name === 'value' ? '' : false);
  } else if (now === undefined || now === null || now === false) {
    el.removeAttribute(name);
  } else if (name === 'href' && !/^[/#](?!\/)/.test(String(now))) {
    // Only pages of this server are ever linked.
    el.removeAttribute(name);
  } else {
    el.setAttribute(name, now === true ? '' : safeLine(String(now)));
  }
}

/** @param {any} el @param {Record<string, any>} before @param {Record<string, any>} now */
function setStyle(el, before, now) {
  for (const name of Object.keys(before)) if (!(name in now)) el.style.removeProperty(name);
  for (const name of Object.keys(now)) if (before[name] !== now[name]) el.style.setProperty(name, String(now[name]));
}

const HANDLERS = Symbol('handlers');

/** @param {any} el @param {Record<string, any>} before @param {Record<string, any>} now */
function setHandlers(el, before, now) {
  el[HANDLERS] = now;
  for (const type of Object.keys(now)) {
    // One listener for the element's life; which handler it calls is looked up each time.
    if (!(type in before) && !el[`has-${type}`]) {
      el[`has-${type}`] = true;
      el.addEventListener(type, (/** @type {Event} */ event) => el[HANDLERS]?.[type]?.(event));
    }
  }
}
