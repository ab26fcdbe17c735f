// The last pods that were bound: where, and by how much before the second-best node.
import { byId, duration, fillTable, number, plural, setText } from './dom.js';

const right = { class: 'number' };

const scoresText = scores => scores.filter(([, score]) => score !== 0)
  .map(([plugin, score, weight]) => `${plugin} ${score} × ${weight}`).join(', ');

export function showBound({ bound, decision }) {
  fillTable(byId('bound-table'), 'The last pods that were bound', [{ text: 'Pod' }, { text: 'Decision', ...right }, { text: 'At' },
    { text: 'Node' }, { text: 'Score', ...right }, { text: 'Runner-up' }, { text: 'Margin', ...right },
    { text: 'Nodes that fit', ...right }, { text: 'Waited', ...right }, { text: 'Score, of which' }],
  bound.map(one => ({
    key: one.decision,
    cells: [`${one.namespace}/${one.name}`, { text: number(one.decision), ...right },
      { text: new Date(one.at).toLocaleTimeString(), title: one.at }, one.node,
      { text: number(one.score), ...right },
      one.runnerUp ? one.runnerUp.node : '–',
      { text: one.runnerUp ? number(one.score - one.runnerUp.score) : '–', ...right },
      { text: `${number(one.feasibleNodes)} of ${number(one.allNodes)}`, ...right },
      { text: duration(one.waitedSeconds), ...right }, scoresText(one.scores)],
  })));
  byId('bound-table').hidden = bound.length === 0;
  setText(byId('bound-note'), bound.length === 0 ? 'This replica has bound no pod yet.'
    : `The last ${plural(bound.length, 'pod')} that this replica bound, of ${plural(decision, 'decision')}: ` +
      'also refusals are decisions. A margin of 0: both are as good, and the first by name is taken.');
}
