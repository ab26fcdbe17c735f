// Where would a pod go that is not there? The engine is asked; nothing is created.
import { ask, byId, el, keyed } from './dom.js';
import { whyAnswer } from './why.js';

const kLongest = 4000;  // of a manifest: it travels in a URL

const form = byId('ask');

// Comments and empty lines say nothing to the scheduler, and need not travel.
const without = text => text.split('\n').filter(line => !/^\s*(#|$)/.test(line)).join('\n');

function parameters() {
  const data = new FormData(form);
  const namespace = data.get('namespace').trim() || 'default';
  if (data.get('about') === 'gpus') {
    return { namespace, gpus: data.get('gpus'), type: data.get('type'), tolerates: data.get('tolerates') || '' };
  }
  const manifest = without(data.get('manifest'));
  if (!manifest) throw new Error('Paste a Pod first.');
  if (new URLSearchParams({ manifest }).toString().length > kLongest) {
    throw new Error('The manifest is too long. Leave out what does not matter to where the pod goes: status, env, command, managedFields.');
  }
  return { namespace, manifest };
}

form.addEventListener('submit', async event => {
  event.preventDefault();
  const answer = byId('answer');
  try {
    const { notes, why } = await ask('what-if', parameters());
    answer.replaceChildren(...notes.map(note => el('p', { class: 'note' }, note + '.')), whyAnswer(why, false));
  } catch (error) {
    answer.replaceChildren(el('p', { class: 'note', role: 'alert' }, error.message));
  }
});

form.addEventListener('change', () => {
  const byGpus = form.elements.about.value === 'gpus';
  byId('by-gpus').hidden = !byGpus;
  byId('by-manifest').hidden = byGpus;
  for (const id of ['ask-gpus', 'ask-type', 'ask-tolerates']) byId(id).disabled = !byGpus;
});

export function showWhatIf({ states }) {
  const types = [...new Set(states.map(state => state.type).filter(Boolean))];
  keyed(byId('ask-type'), ['', ...types].map(type => ({ type })), ({ type }) => type,
    ({ type }) => el('option', { value: type }, type || 'any'), () => {});
}
