// A block for each node, with a cell for each piece of a GPU by state.
import { ask, byId, el, kAskAgain, keyed, number, plural, setAttribute, setText, typeName } from './dom.js';

const kMostCells = 64;  // of one row; beyond, a cell counts several pieces

function cellsOf({ total, used, held = 0 }, closed) {
  const each = Math.max(1, Math.ceil(total / kMostCells));
  const cells = Math.ceil(total / each);
  const taken = Math.min(cells, Math.ceil(used / each));
  const keptBack = closed ? cells : Math.min(cells, Math.ceil((used + held) / each));
  const stateOf = i => i < taken ? 'used' : i < keptBack ? 'closed' : 'free';
  return { each, states: Array.from({ length: cells }, (_, i) => stateOf(i)) };
}

function textOf(row, closed) {
  const held = row.held || 0;
  const free = Math.max(0, row.total - row.used - held);
  const kept = held > 0 ? `${number(held)} held, ` : '';
  return `${number(row.used)} of ${number(row.total)} used, ${kept}${number(free)} ${closed ? 'free but closed' : 'free'}`;
}

function makeRow() {
  return el('div', { class: 'pieces' }, el('small'), el('div', { class: 'cells', role: 'img' }));
}

function updateRow(row, { pieces, closed }) {
  const { each, states } = cellsOf(pieces, closed);
  const many = each > 1 ? `, a square is ${each}` : '';
  setText(row.firstChild, [pieces.form, `${number(pieces.used)}/${number(pieces.total)}${many}`].filter(Boolean).join(' '));
  setAttribute(row.lastChild, 'aria-label', textOf(pieces, closed));
  keyed(row.lastChild, states.map((state, i) => ({ state, i })), cell => cell.i, () => el('i'),
    (cell, { state }) => setAttribute(cell, 'class', 'cell ' + state));
}

// Whose the GPUs of a node are, asked for as long as somebody wants to know.
async function fillPods(box, node) {
  box.askedAt = performance.now();
  const show = lines => keyed(box, lines, line => line.key, () => el('li'), (item, { text }) => setText(item, text));
  try {
    const { nodes: [{ pods }] } = await ask('node', { node });
    const lines = pods.map(({ pod, gpus }) => ({ key: pod, text: `${pod} ${number(gpus)}` }));
    show(lines.length > 0 ? lines : [{ key: '', text: 'no pod' }]);
  } catch (error) {
    if (!box.firstChild) show([{ key: '', text: error.message }]);
  }
}

function toggle(button, box, node) {
  box.hidden = !box.hidden;
  setAttribute(button, 'aria-expanded', !box.hidden);
  if (!box.hidden) fillPods(box, node);
}

function makeNode({ node }) {
  const box = el('ul', { class: 'pods', hidden: true });
  const button = el('button', { type: 'button', 'aria-expanded': 'false', title: `Whose the GPUs of ${node} are`,
    onclick: () => toggle(button, box, node) }, node);
  return el('li', {}, el('h4', {}, button), el('div'), el('small', { class: 'closed-why' }), box);
}

function updateNode(item, node) {
  setAttribute(item, 'class', node.closed ? 'node is-closed' : 'node');
  keyed(item.children[1], node.pieces.map(pieces => ({ pieces, closed: node.closed })),
    row => row.pieces.form, makeRow, updateRow);
  const none = node.pieces.length === 0 && !node.closed ? 'no GPUs' : '';
  const box = item.children[3];
  if (!box.hidden && performance.now() - box.askedAt > kAskAgain) fillPods(box, node.node);
  setText(item.children[2], node.closed ? 'closed: ' + node.closed : none);
}

export function showMap({ nodes, overview, leftOut }) {
  const types = new Map();
  for (const node of nodes) {
    const name = typeName({ type: node.type });
    if (!types.has(name)) types.set(name, []);
    types.get(name).push(node);
  }
  keyed(byId('map'), [...types], ([name]) => name,
    ([name]) => el('div', {}, el('h3', {}, name), el('ul', { class: 'nodes', 'aria-label': 'nodes with ' + name })),
    (group, [, itsNodes]) => keyed(group.lastChild, itsNodes, node => node.node, makeNode, updateNode));
  setText(byId('map-note'), leftOut.nodes > 0 ? `And ${plural(leftOut.nodes, 'node')} more: kubectl gpu nodes` : '');
  const closed = overview.closedNodes.length + leftOut.closedNodes;
  keyed(byId('closed'), closed > 0 ? [overview.closedNodes] : [], () => 'closed',
    () => el('details', {}, el('summary'), el('ul')), (details, list) => {
      setText(details.firstChild, `${plural(closed, 'node')} closed`);
      keyed(details.lastChild, list, node => node.node, () => el('li'), (item, node) =>
        setText(item, `${node.node}: ${node.why} (${plural(node.pieces, 'piece')})`));
    });
}
