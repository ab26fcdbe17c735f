// Reads the document every few seconds and gives it to the parts of the page. While it cannot be
// read what was shown last stays, with its age. That age counts from when the scheduler's watches
// were last known to be current, which may be long before it answered.
import { ask, byId, duration, plural, setAttribute, setText } from './dom.js';
import { showBound } from './decisions.js';
import { showHistory } from './history.js';
import { showMap } from './map.js';
import { showOverview } from './overview.js';
import { showQueue } from './queue.js';
import { showQuotas } from './quotas.js';
import { showWhatIf } from './what-if.js';

const kInterval = 3000;  // between two readings
const kPatience = 10000;  // without an answer for so long there is no news
const kOldest = 120;  // s; a watch that works is known to be current at least once a minute

let last = null;  // the document that is shown
let lastAt = 0;  // when it came, by performance.now()
let trouble = null;  // why the last reading failed
let troubleAt = 0;

const parts = [showOverview, showQueue, showMap, showWhatIf, showQuotas, showBound, showHistory];

function show(state) {
  for (const part of parts) part(state);
  setText(byId('about'), `gpu-scheduler ${state.version} on ${state.replica}, for pods of ` +
    `${state.schedulerNames.join(', ')}. Read-only. The same by text: kubectl gpu`);
}

function showAge() {
  const now = performance.now();
  const age = byId('age');
  if (last) {
    const seconds = (last.dataAgeSeconds ?? 0) + (now - lastAt) / 1000;
    const isSilent = Boolean(trouble) || now - lastAt > kPatience;
    const isOld = seconds > kOldest;
    const state = isSilent ? 'no news' : isOld ? 'old data' : 'alive';
    setText(age, `${state} · as of ${duration(seconds)} ago · ${plural(last.decision, 'decision')}`);
    setAttribute(age, 'title', `answered ${new Date(last.asOf).toLocaleString()}`);
    setAttribute(age, 'data-state', isSilent || isOld ? 'old' : 'live');
  } else {
    setText(age, trouble ? 'no data' : 'reading …');
  }
  const box = byId('trouble');
  box.hidden = !trouble;
  if (trouble) setText(box, trouble);
}

function failed(error) {
  if (!trouble) troubleAt = performance.now();
  const since = new Date(Date.now() - (performance.now() - troubleAt)).toLocaleTimeString();
  const reason = error.name === 'TypeError' || error.name === 'TimeoutError'
    ? 'no answer; does `kubectl gpu ui` still run?' : error.message;
  trouble = `Connection lost since ${since}: ${reason.replace(/[.?]?$/, end => end || '.')} Tried again every few seconds` +
    (last ? '; what is shown is old.' : '.');
}

async function read() {
  try {
    const state = await ask('state');
    last = state;
    lastAt = performance.now();
    trouble = null;
    show(state);
  } catch (error) {
    failed(error);
  }
  showAge();
}

async function readOn() {
  if (!document.hidden) await read();
  setTimeout(readOn, kInterval);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) read(); });
setInterval(showAge, 1000);
readOn();
