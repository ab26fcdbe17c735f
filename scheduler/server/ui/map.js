// A block for each node, with a cell for each piece of a GPU by state.
import { ask, byId, el, keyed, number, plural, setAttribute, setText, typeName } from './dom.js';

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

// Whose the GPUs of a node are, asked for when somebody wants to know.
async function showPods(button, box, node) {
  const isOpen = box.hidden;
  setAttribute(button, 'aria-expanded', isOpen);
  box.hidden = !isOpen;
  if (!isOpen) return;
  try {
    const { nodes: [{ pods }] } = await ask('node', { node });
    box.replaceChildren(...pods.map(({ pod, gpus }) => el('li', {}, `${pod} `, el('b', {}, number(gpus)))));
    if (pods.length === 0) box.replaceChildren(el('li', {}, 'no pod'));
  } catch (error) {
    box.replaceChildren(el('li', {}, error.message));
  }
}

function makeNode({ node }) {
  const box = el('ul', { class: 'pods', hidden: true });
  const button = el('button', { type: 'button', 'aria-expanded': 'false', title: `Whose the GPUs of ${node} are`,
    onclick: () => showPods(button, box, node) }, node);
  return el('li', {}, el('h4', {}, button), el('div'), el('small', { class: 'closed-why' }), box);
}

function updateNode(item, node) {
  setAttribute(item, 'class', node.closed ? 'node is-closed' : 'node');
  keyed(item.children[1], node.pieces.map(pieces => ({ pieces, closed: node.closed })),
    row => row.pieces.form, makeRow, updateRow);
  const none = node.pieces.length === 0 && !node.closed ? 'no GPUs' : '';
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
