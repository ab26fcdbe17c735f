// Use and waiting of the last 24 hours, drawn by uPlot.
import { Chart, axisStyle, colour } from './chart.js';
import { byId, el, keyed, number, setText } from './dom.js';

/* global uPlot */

const kShortest = 600;  // seconds: what the axis shows at least
const kForms = { gpus: 'GPUs', instances: 'MIG instances', replicas: 'shared pieces' };

// The last point is now. Where a sample is missing so is the line.
function columnsOf(history, names, now, values) {
  const gap = 2.5 * history.intervalSeconds;
  const columns = [[], ...names.map(() => [])];
  const push = (at, row) => {
    const last = columns[0].at(-1);
    if (last !== undefined && at <= last) return;
    if (last !== undefined && at - last > gap) {
      columns[0].push(last + 1);
      names.forEach((_, i) => columns[i + 1].push(null));
    }
    columns[0].push(at);
    row.forEach((value, i) => columns[i + 1].push(value));
  };
  history.at.forEach((at, i) => push(at, names.map(name => history[name]?.[i] ?? null)));
  push(now, values);
  if (columns[0].length === 1) {  // around a point that is alone uPlot draws years
    columns[0].unshift(columns[0][0] - 1);
    names.forEach((_, i) => columns[i + 1].unshift(null));
  }
  return columns;
}

class Plot {
  constructor(title, series) {
    this.title = title;
    this.series = series;
    this.summary = el('small');
    this.box = el('div', { class: 'plot-box', role: 'img' });
    this.root = el('figure', { class: 'plot' }, el('figcaption', {}, title), this.box, this.summary);
    this.chart = new Chart(this.box, 200, () => this.options());
  }

  options() {
    const axis = axisStyle();
    return {
      legend: { live: true }, cursor: { y: false },
      scales: { x: { range: (_, min, max) => [Math.min(min, max - kShortest), max] }, y: { range: (_, min, max) => [0, Math.max(1, max * 1.05)] } },
      axes: [{ ...axis, space: 70 }, { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000] }],
      series: [{ value: (_, at) => at === null ? '' : new Date(at * 1000).toLocaleTimeString() },
        ...this.series.map(({ name, hue, dash, fill }) => ({ label: name, stroke: colour(hue), width: 2, dash,
          fill: fill ? colour(hue) + '33' : undefined, points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }) }))],
    };
  }

  show(columns) {
    this.chart.show(columns);
    const text = this.series.map(({ name }, i) => {
      const values = columns[i + 1].filter(value => value !== null);
      return `${name} ${number(values.at(-1) ?? 0)} now, ${number(Math.min(...values))} to ${number(Math.max(...values))}`;
    }).join('; ');
    setText(this.summary, text);
    this.box.setAttribute('aria-label', `${this.title}: ${text}`);
  }
}

const use = new Plot('Use', [{ name: 'in all', hue: '--soft', dash: [6, 4] }, { name: 'used', hue: '--hue0', fill: true }, { name: 'free', hue: '--hue2' }]);
const waiting = new Plot('Waiting', [{ name: 'pods', hue: '--hue1', fill: true }, { name: 'GPUs that they ask for', hue: '--hue3' }]);
byId('plots').append(use.root, waiting.root);

let last = null;
byId('history-of').addEventListener('change', () => showHistory(last));

export function showHistory(state) {
  if (!state) return;
  last = state;
  const { history, overview, asOf } = state;
  const choice = byId('history-of');
  keyed(choice, Object.keys(kForms).filter(form => form === 'gpus' || history[form + 'Total']).map(form => ({ form })),
    ({ form }) => form, ({ form }) => el('option', { value: form }, kForms[form]), () => {});
  const form = choice.value || 'gpus';
  const pieces = overview[form === 'instances' ? 'migInstances' : form];
  const now = Math.floor(Date.parse(asOf) / 1000);
  use.show(columnsOf(history, [form + 'Total', form + 'Used', form + 'Free'], now, [pieces.total, pieces.used, pieces.free]));
  waiting.show(columnsOf(history, ['waitingPods', 'waitingGpus'], now, [overview.waiting.pods, overview.waiting.gpus]));
  const first = history.at[0];
  setText(byId('history-note'), first === undefined ? 'The replica that leads keeps a sample a minute in memory; there is none yet.'
    : `A sample a minute, since ${new Date(first * 1000).toLocaleString()}, kept in memory by the replica that leads: a new leader begins anew.`);
}
