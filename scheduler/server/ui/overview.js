// The cluster in numbers, and by type of GPU.
import { byId, el, fillTable, keyed, number, plural, setAttribute, setText, typeName } from './dom.js';

const kReasons = { cordoned: 'cordoned', backed_off: 'backed off', not_ready: 'not ready', mig_change: 'changing MIG', unhealthy: 'unhealthy', held: 'held for a pod that has waited long' };

// Pieces that no pod has and that no pod gets, by reason, of one form.
function closedPieces(states, isForm) {
  const sums = {};
  for (const state of states.filter(state => isForm(state.form))) {
    for (const [reason, pieces] of Object.entries(state.closed)) sums[reason] = (sums[reason] || 0) + pieces;
  }
  return sums;
}

function closedText(sums) {
  return Object.entries(sums).map(([reason, pieces]) => `${number(pieces)} ${kReasons[reason] || reason}`).join(', ');
}

const kForms = [
  { key: 'gpus', title: 'GPUs', isForm: form => form === '' },
  { key: 'migInstances', title: 'MIG instances', isForm: form => form.startsWith('mig-') && !form.endsWith('.shared') },
  { key: 'replicas', title: 'shared pieces', isForm: form => form.endsWith('shared') },
];

function tilesOf({ overview, states }) {
  const tiles = [];
  for (const { key, title, isForm } of kForms) {
    const { total, used, free } = overview[key];
    const sums = closedPieces(states, isForm);
    const closed = Object.values(sums).reduce((a, b) => a + b, 0);
    if (key === 'gpus') {
      tiles.push({ key, name: title, value: total, note: 'in all' },
        { key: key + '-used', name: 'used', value: used, kind: 'used', note: total > 0 ? `${Math.round(100 * used / total)} %` : '' },
        { key: key + '-free', name: 'free', value: free, kind: 'free', note: 'on open nodes' },
        { key: key + '-closed', name: 'closed', value: closed, kind: 'closed', note: closedText(sums) || 'every node is open' });
    } else if (total > 0) {
      tiles.push({ key, name: title, value: total,
        note: `${number(used)} used, ${number(free)} free` + (closed > 0 ? `, closed: ${closedText(sums)}` : '') });
    }
  }
  const { pods, gpus, gated, never } = overview.waiting;
  const apart = [gated && `${number(gated)} gated`, never && `${number(never)} can never start`].filter(Boolean);
  tiles.push({ key: 'waiting', name: 'pods wait', value: pods, kind: pods > 0 ? 'waiting' : '',
    note: [`for ${plural(gpus, 'GPU')}`, ...apart].join(', ') });
  return tiles;
}

function updateTile(tile, { name, value, note, kind }) {
  setAttribute(tile, 'class', kind || null);
  setText(tile.children[0], name);
  setText(tile.children[1].children[0], number(value));
  setText(tile.children[1].children[1], note);
}

export function showOverview(state) {
  keyed(byId('tiles'), tilesOf(state), tile => tile.key,
    tile => el('div', { 'data-tile': tile.key }, el('dt'), el('dd', {}, el('b'), el('small'))), updateTile);
  const right = { class: 'number' };
  fillTable(byId('types-table'), 'GPUs by type and form', [
    { text: 'Type' }, { text: 'Nodes', ...right }, { text: 'Used', ...right }, { text: 'Free', ...right },
    { text: 'Largest block', ...right }, { text: 'Whole nodes free', ...right },
  ], state.overview.types.map(row => ({
    key: typeName(row),
    cells: [typeName(row), { text: number(row.nodes), ...right },
      { text: `${number(row.pieces.used)} of ${number(row.pieces.total)}`, ...right },
      { text: number(row.pieces.free), ...right },
      { text: row.largestBlock > 0 ? `${number(row.largestBlock)} on ${row.largestBlockOn}` : '–', ...right },
      { text: number(row.wholeNodesFree), ...right }],
  })));
}
