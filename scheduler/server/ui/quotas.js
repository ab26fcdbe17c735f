// What each quota has, uses, borrows and lends.
import { byId, el, fillTable, keyed, plural, setText } from './dom.js';

const right = { class: 'number' };

// A part of another stands behind it.
function ordered(quotas) {
  const children = new Map();
  const names = new Set(quotas.map(quota => quota.name));
  for (const quota of quotas) {
    const parent = names.has(quota.parent) ? quota.parent : '';
    children.set(parent, [...(children.get(parent) || []), quota]);
  }
  const rows = [];
  const seen = new Set();
  const visit = (name, depth) => {
    for (const quota of children.get(name) || []) {
      if (seen.has(quota.name)) continue;
      seen.add(quota.name);
      rows.push({ quota, depth });
      visit(quota.name, depth + 1);
    }
  };
  visit('', 0);
  // In a circle of parents nobody is first.
  for (const quota of quotas) if (!seen.has(quota.name)) rows.push({ quota, depth: 0 });
  return rows;
}

// Ready is to be true, and all that is named for a problem is not.
const wrongs = quota => quota.conditions.filter(one => (one.type === 'Ready') !== (one.status === 'True'))
  .map(one => ({ key: `${quota.name} ${one.type}`, text: `${quota.name}: ${one.type === 'Ready' ? 'not Ready' : one.type}: ${one.message}` }));

export function showQuotas({ quotas: { quotas }, leftOut }) {
  const rows = ordered(quotas).flatMap(({ quota, depth }) => quota.lines.map((line, i) => ({
    key: `${quota.name} ${line.gpuType} ${i}`,
    class: wrongs(quota).length > 0 ? 'wrong' : '',
    cells: [{ text: '  '.repeat(depth) + quota.name, title: quota.parent ? `part of ${quota.parent}` : '' },
      line.gpuType === '*' ? 'any' : line.gpuType,
      { text: `${line.use.used} of ${line.use.guaranteed}`, ...right }, { text: line.use.borrowed, ...right },
      { text: line.use.lent, ...right }, { text: line.use.pending, ...right }],
  })));
  fillTable(byId('quotas-table'), 'GPUs of quotas', [{ text: 'Quota' }, { text: 'Type' }, { text: 'Used of guaranteed', ...right },
    { text: 'Borrowed', ...right }, { text: 'Lent', ...right }, { text: 'Waited for', ...right }], rows);
  byId('quotas-table').hidden = quotas.length === 0;
  keyed(byId('quotas-wrong'), quotas.flatMap(wrongs), one => one.key, () => el('li'), (item, one) => setText(item, one.text));
  const more = leftOut.quotas > 0 ? `And ${plural(leftOut.quotas, 'quota')} more: kubectl gpu quota` : '';
  setText(byId('quotas-note'), quotas.length === 0 ? 'There is no GpuQuota: GPUs go by priority and age alone.' : more);
}
