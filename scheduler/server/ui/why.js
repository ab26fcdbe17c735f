// An answer to "why does this pod wait, and what can I do?": a sentence, the next steps, and the
// evidence in numbers. The answer is that of `kubectl gpu why -o json`.
import { el, number, plural } from './dom.js';

const kVerdicts = {
  Starts: ['can start', 'Nothing is in its way now.'],
  Waits: ['waits', ''],
  Gated: ['gated', 'It has scheduling gates: whatever set them has to remove them.'],
  Never: ['can never start', ''],
};

function code(text) { return el('code', {}, text); }

// By what the pod waits for. For nodes: only if `isHelped` by no step that makes room. For its turn or for an object that is missing nothing is
// said: the headline names what has to come.
function stepsForWaiting(why, isHelped) {
  if (why.waitsForPods) return [['Create the missing pods of its group: it starts when all of them are there and have room.']];
  if (why.waitsForQuota) {
    return [[why.quotaNeverGives ? 'Ask for a type and number that its quota gives, or ask an administrator for a quota that gives it: '
      : 'Wait until pods of the quota end, or ask for a larger one: ', code(`kubectl gpu quota -n ${why.pod.namespace}`)]];
  }
  if (why.waitsForNodes && why.fittingNodes === 0 && !isHelped) {
    return [['No node here would take it, even if the node were empty: change what it asks for, or add a node that has all of it.']];
  }
  return [];
}

// What somebody can do, each a list of texts and elements.
function steps(why, isThere) {
  const list = [];
  const or = text => list.length === 0 ? text[0].toUpperCase() + text.slice(1) : `Or ${text}`;
  if (why.verdict === 'Never') list.push(['Correct the pod and create it anew: as it is written no node can ever take it.']);
  if (why.verdict === 'Gated') list.push(['Remove its scheduling gates, or wait for the controller that will.']);
  if (why.freesWhen.node) {
    list.push([`Wait until ${why.freesWhen.podsEnd.join(' and ') || 'enough is free'} on ${why.freesWhen.node} ` +
      `${why.freesWhen.podsEnd.length === 1 ? 'ends' : 'end'}: then there is room.`]);
  }
  if (why.wouldRunOnOneMore) {
    list.push([or(`have one node more like ${why.wouldRunOnOneMore}: `), code(`kubectl gpu plan --add ${why.wouldRunOnOneMore}=1`)]);
  }
  for (const { what, to, node, podsEnd } of why.wouldRunIfChanged) {
    const then = podsEnd.length === 0 ? 'now' : `after ${podsEnd.join(' and ')}`;
    // Of a pod that is there these cannot be changed.
    const isFixed = isThere && (what.startsWith('nodeSelector') || what === 'required node affinity');
    list.push([or(isFixed ? 'create the pod anew with ' : 'change the pod: '), code(to ? `${what}: ${to}` : `no ${what}`), `; ${node} would take it ${then}.`]);
  }
  if (why.verdict === 'Waits') list.push(...stepsForWaiting(why, list.length > 0));
  if (why.verdict === 'Starts' && isThere) {
    list.push(['If it still waits in a minute, others have their turn before it: see the order above.']);
  }
  if (isThere) list.push(['The same by text: ', code(`kubectl gpu why pod/${why.pod.name} -n ${why.pod.namespace}`)]);
  return list;
}

function next(list) {
  if (list.length === 0) return [];
  return [el('h4', {}, 'What to do'), el('ul', { class: 'steps' }, ...list.map(step => el('li', {}, ...step)))];
}

function reasonRows(why) {
  return why.reasons.map(row => el('tr', {},
    el('td', { class: 'number' }, el('span', { class: 'bar-of' },
      el('progress', { max: why.allNodes, value: row.nodes, 'aria-hidden': 'true' })), number(row.nodes)),
    el('td', {}, row.reason), el('td', {}, row.example)));
}

function reasons(why) {
  if (why.reasons.length === 0) return null;
  const heads = ['Nodes', 'say no because', 'for example'];
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Reasons of nodes' },
    el('table', { class: 'reasons' },
      el('thead', {}, el('tr', {}, ...heads.map((head, i) =>
        el('th', { scope: 'col', class: i === 0 ? 'number' : null }, head)))),
      el('tbody', {}, ...reasonRows(why))));
}

function candidates(why) {
  if (why.candidates.length === 0) return null;
  const best = why.candidates[0].totalScore;
  const rows = why.candidates.map((one, i) => el('tr', {},
    el('th', { scope: 'row' }, one.node), el('td', { class: 'number' }, number(one.totalScore)),
    el('td', { class: 'number' }, i === 0 ? 'best' : `−${number(best - one.totalScore)}`),
    el('td', {}, one.scores.filter(s => s.score !== 0)
      .map(s => `${s.plugin} ${number(s.score)} × ${number(s.weight)}`).join(', ') || 'no score counts')));
  const heads = ['Would take it now', 'Score', 'Behind', 'of which'];
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Nodes that would take it' },
    el('table', {}, el('thead', {}, el('tr', {}, ...heads.map((head, i) =>
      el('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : null }, head)))), el('tbody', {}, ...rows)));
}

function headline(why) {
  const [, sentence] = kVerdicts[why.verdict] || ['', ''];
  if (why.verdict === 'Starts') return why.node ? `Would go to ${why.node} now.` : sentence;
  return why.headline || sentence;
}

// `isThere`: the pod exists, and waits.
export function whyAnswer(why, isThere) {
  const [word] = kVerdicts[why.verdict] || [why.verdict];
  const asked = [why.asks && `It asks for ${why.asks}.`, why.quota && `Quota ${why.quota} counts it.`,
    isThere && `It has waited since ${new Date(why.since).toLocaleString()}.`].filter(Boolean).join(' ');
  return el('div', { class: 'why', 'data-verdict': why.verdict },
    el('p', { class: 'headline' }, el('b', { class: 'chip', 'data-kind': why.verdict }, word), ' ', headline(why)),
    asked && el('p', { class: 'note' }, asked),
    ...next(steps(why, isThere)),
    el('h4', {}, `What ${plural(why.allNodes, 'node')} say: ${number(why.fittingNodes)} would take it`),
    reasons(why), candidates(why),
    why.details && el('details', {}, el('summary', {}, 'More numbers'), el('p', { class: 'details' }, why.details)));
}
