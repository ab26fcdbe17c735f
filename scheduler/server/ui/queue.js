// The pods that wait, each with one sentence why. A row opens to the evidence, asked for anew while
// it is open.
import { ask, byId, duration, el, kAskAgain, keyed, number, plural, setAttribute, setText } from './dom.js';
import { whyAnswer } from './why.js';

const kBlocked = { quota: 'quota', nodes: 'no node', pods: 'its group', gates: 'gated', itself: 'never', '': 'its turn' };

const kMostWhole = 20;  // rows

const keyOf = pod => `${pod.namespace}/${pod.name}`;

async function fill(box, pod) {
  if (box.isAsking) return;
  box.isAsking = true;
  try {
    const answer = whyAnswer(await ask('why', { namespace: pod.namespace, pod: pod.name }), true);
    // The same answer stays, and what is selected or open in it.
    if (box.firstElementChild?.textContent !== answer.textContent) box.replaceChildren(answer);
  } catch (error) {
    if (!box.querySelector('.why')) box.replaceChildren(el('p', { class: 'note' }, error.message));
  } finally {
    box.isAsking = false;
    box.askedAt = performance.now();
  }
}

// An answer may be longer than what is left below its row.
function bringIntoView(row) {
  const seen = Math.min(byId('rows').clientHeight, window.innerHeight);
  row.scrollIntoView({ block: row.offsetHeight > 0.8 * seen ? 'start' : 'nearest' });
}

function makeRow(pod) {
  const id = `why-${pod.namespace}-${pod.name}`;
  const box = el('div', { id, class: 'evidence', hidden: true });
  const button = el('button', { type: 'button', 'aria-expanded': 'false', 'aria-controls': id },
    el('span', { class: 'name' }), el('span', { class: 'chip' }), el('span', { class: 'asks' }),
    el('span', { class: 'waited' }), el('span', { class: 'sentence' }));
  button.addEventListener('click', () => {
    box.hidden = !box.hidden;
    button.setAttribute('aria-expanded', String(!box.hidden));
    if (box.hidden) return;
    box.replaceChildren(el('p', { class: 'note' }, 'asking the scheduler …'));
    fill(box, pod).then(() => { if (!box.hidden) bringIntoView(box.parentElement); });
  });
  return el('li', {}, button, box);
}

function updateRow(row, pod) {
  const [button, box] = row.children;
  const [name, chip, asks, waited, sentence] = button.children;
  setText(name, keyOf(pod));
  setText(chip, kBlocked[pod.blockedBy] ?? pod.blockedBy);
  setAttribute(chip, 'data-kind', pod.blockedBy || 'turn');
  setText(asks, pod.asks || 'no GPU');
  setText(waited, duration((Date.now() - Date.parse(pod.created)) / 1000));
  setAttribute(waited, 'title', `since ${new Date(pod.created).toLocaleString()}`);
  setText(sentence, pod.why);
  if (!box.hidden && performance.now() - (box.askedAt || 0) > kAskAgain) fill(box, pod);
}

// What is typed: "name" of any namespace, or "namespace/name".
function podsLike(text, queue) {
  const wanted = text.trim().replace(/^pods?\//, '');
  const exact = queue.filter(pod => keyOf(pod) === wanted || pod.name === wanted);
  return exact.length > 0 ? exact : queue.filter(pod => wanted && keyOf(pod).includes(wanted));
}

const misnamedSentence = pod => `${keyOf(pod)} waits for a scheduler "${pod.schedulerName}". `
  + `Is "${pod.meant}" meant? A pod's schedulerName cannot be changed: create it anew.`;

const boundSentence = one => `${keyOf(one)} does not wait: it was bound to ${one.node} at ${new Date(one.at).toLocaleTimeString()}. ` +
  'How the node was chosen is below, under Last decisions.';

function oldestSentence(queue, isAll) {
  const oldest = queue.reduce((a, b) => a && a.created <= b.created ? a : b, null);
  return oldest ? `The oldest${isAll ? '' : ' of these'}, ${keyOf(oldest)}, has waited since ${new Date(oldest.created).toLocaleString()}.` : '';
}

let shown = [];
let started = [];

async function find(event) {
  event.preventDefault();
  const text = byId('find-pod').value;
  const found = byId('found');
  if (!text.trim()) return found.replaceChildren();
  const [first] = podsLike(text, shown);
  const [namespace, name] = text.trim().split('/');
  const pod = first || (name ? { namespace, name } : null);
  // One that was bound may have been created anew, and wait, so that the scheduler is asked first.
  const one = started.find(each => keyOf(each) === text.trim() || each.name === text.trim());
  if (!pod) {
    found.replaceChildren(el('p', { class: 'note' }, one ? boundSentence(one)
      : 'No such pod is among those shown. Of others give the namespace, too: namespace/name.'));
    return;
  }
  const box = el('div', { class: 'evidence' }, pod.meant ? el('p', { class: 'note' }, misnamedSentence(pod)) : '');
  found.replaceChildren(el('h3', {}, keyOf(pod)), box,
    el('button', { type: 'button', onclick: () => { found.replaceChildren(); byId('find-pod').focus(); } }, 'Close'));
  if (!pod.meant) await fill(box, pod);
  if (one && !box.querySelector('.why')) box.replaceChildren(el('p', { class: 'note' }, boundSentence(one)));
}

byId('find').addEventListener('submit', find);

export function showQueue({ queue, misnamed, bound, leftOut, overview }) {
  shown = [...queue, ...misnamed];
  started = bound;
  keyed(byId('rows'), queue, keyOf, makeRow, updateRow);
  const more = leftOut.pods > 0 ? `And ${number(leftOut.pods)} more. Find one by namespace/name. ` : '';
  setText(byId('rows-note'), overview.waiting.pods === 0 ? 'No pod waits.'
    : `${more}${plural(queue.length, 'pod')} by priority, then age; quotas take turns. ${oldestSentence(queue, leftOut.pods === 0)}`);
  // A short list is seen whole.
  setAttribute(byId('rows'), 'class', queue.length > kMostWhole ? 'rows boxed' : 'rows');
  const unseen = leftOut.misnamed > 0 ? [{ more: leftOut.misnamed }] : [];
  keyed(byId('misnamed'), [...misnamed, ...unseen], pod => pod.more ? '' : keyOf(pod), () => el('li'),
    (item, pod) => setText(item, pod.more ? `And ${plural(pod.more, 'pod')} more: kubectl gpu queue` : misnamedSentence(pod)));
}
