// The plots, drawn by uPlot in the manner of the live page (chart.js), with the values under the pointer or under the arrow keys.

const tip = document.getElementById('tip');

// Shows the text beside a point of the window, inside of it.
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
  tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + 'px';
  tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 4)) + 'px';
}

function hideTip() { tip.hidden = true; }
addEventListener('scroll', hideTip, { passive: true });

// As page/text.cc writes it.
function durationText(seconds) {
  for (const [size, name] of [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']]) {
    const amount = seconds / size;
    if (amount < 0.999) continue;
    const text = amount.toFixed(amount >= 9.95 || Math.abs(amount - Math.round(amount)) < 0.05 ? 0 : 1);
    return `${text} ${name}${text === '1' ? '' : 's'}`;
  }
  return seconds > 0 ? 'under a second' : '0 seconds';
}

const kDurations = [1, 60, 3600, 86400, 30 * 86400];
const kMoreDurations = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 5 * 86400, 30 * 86400, 120 * 86400];

// The line's values at the places `x`, between its points; none outside of them.
function valuesAt(x, line, values) {
  let i = 0;
  return x.map(at => {
    while (i + 1 < line.x.length && line.x[i + 1] <= at) ++i;
    if (at < line.x[0] || at > line.x.at(-1)) return null;
    const next = Math.min(i + 1, line.x.length - 1), width = line.x[next] - line.x[i];
    return values[i] + (width > 0 ? (values[next] - values[i]) * (at - line.x[i]) / width : 0);
  });
}

const isShown = line => line.policy === undefined || (document.getElementById('show' + line.policy)?.checked ?? true);

class Plot {
  constructor(figure) {
    Object.assign(this, JSON.parse(figure.querySelector('script').textContent), { label: figure.querySelector('.x').textContent });
    this.lines.forEach((line, i) => { line.x ||= this.lines[i - 1].x; });
    const x = [...new Set(this.lines.flatMap(line => line.x))].sort((a, b) => a - b);
    this.columns = [x, ...this.lines.map(line => valuesAt(x, line, line.y))];
    // After the lines the edges of their bands, two by two.
    this.banded = this.lines.filter(line => line.deviations);
    for (const line of this.banded) {
      for (const sign of [1, -1]) this.columns.push(valuesAt(x, line, line.y.map((y, i) => y + sign * line.deviations[i])));
    }
    this.box = figure.querySelector('.plot-box');
    this.chart = new Chart(this.box, figure.classList.contains('small') ? 170 : 300, () => this.options());
    this.chart.show(this.columns);
    this.box.addEventListener('keydown', event => this.step(event));
    this.box.addEventListener('blur', hideTip);
  }

  hueOf(line) { return colour(line.hue === undefined ? '--soft' : '--hue' + line.hue); }

  options() {
    const axis = { ...axisStyle(), font: '12px system-ui, sans-serif' };
    const first = this.lines.length + 1;
    const seriesOf = line => ({ label: line.name, show: isShown(line), stroke: this.hueOf(line), width: line.dash ? 1.5 : 2, dash: line.dash,
      points: { show: false }, fill: this.stacked ? this.hueOf(line) : undefined });
    const edgeOf = line => ({ show: isShown(line), stroke: 'transparent', points: { show: false } });
    const [from, to] = this.range || [0, Math.max(...this.columns.slice(1).flat())];
    const room = to > 0 && from <= 0 && to !== 100 ? to * 1.05 : to;
    return {
      legend: { show: false }, cursor: { y: false, drag: { x: false }, points: { show: !this.stacked } }, padding: [8, 12, 0, 0],
      scales: { x: { time: false, distr: this.durations ? 3 : 1, range: (_, min, max) => [min, max] }, y: { range: () => [from, room > from ? room : from + 1] } },
      axes: [{ ...axis, space: 56, size: 34, ...(this.durations ? this.durationTicks() : {}) }, { ...axis, size: 46, space: 36 }],
      series: [{}, ...this.lines.map(seriesOf), ...this.banded.flatMap(line => [edgeOf(line), edgeOf(line)])],
      bands: this.banded.map((line, i) => ({ series: [first + 2 * i, first + 2 * i + 1], fill: this.hueOf(line) + '2e' })),
      hooks: { setCursor: [plot => this.tell(plot)] },
    };
  }

  durationTicks() {
    return {
      splits: plot => (plot.width < 560 ? kDurations : kMoreDurations).filter(at => at <= plot.scales.x.max),
      values: (_, splits) => splits.map(durationText), filter: (_, splits) => splits,
    };
  }

  // The lines that are shown with their values; of a stack without what is below.
  rowsAt(index) {
    const shown = this.lines.map((line, i) => ({ name: line.name, value: this.columns[i + 1][index], line })).filter(row => isShown(row.line) && row.value !== null);
    if (this.stacked) return shown.map((row, i) => ({ ...row, value: row.value - (shown[i + 1]?.value ?? 0) }));
    return shown.sort((a, b) => b.value - a.value);
  }

  tell(plot) {
    const { idx, left, top } = plot.cursor;
    if (idx === null || idx === undefined || left < 0) return hideTip();
    const x = this.columns[0][idx];
    const rows = this.rowsAt(idx).map(({ name, value }) => `${value.toFixed(2)}  ${name}`);
    const box = plot.over.getBoundingClientRect();
    showTip(`${this.durations ? 'waited at most: ' + durationText(x) : `${this.label}: ${Number(x.toFixed(1))}`}\n${rows.join('\n')}`, box.left + left, box.top + top);
  }

  step(event) {
    if (event.key === 'Escape') return hideTip();
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const plot = this.chart.plot, [x] = this.columns;
    const here = plot.cursor.idx ?? Math.floor(x.length / 2);
    const next = Math.max(0, Math.min(x.length - 1, here + by * Math.ceil(x.length / 100)));
    plot.setCursor({ left: plot.valToPos(x[next], 'x'), top: 20 });
  }

  showPolicy(policy) {
    const all = [...this.lines, ...this.banded.flatMap(line => [line, line])];
    this.chart.plot.batch(() => all.forEach((line, i) => {
      if (line.policy === policy) this.chart.plot.setSeries(i + 1, { show: isShown(line) });
    }));
  }
}

const plots = [...document.querySelectorAll('.plot')].map(figure => new Plot(figure));
for (const box of document.querySelectorAll('.switches input')) {
  box.addEventListener('change', () => { for (const plot of plots) plot.showPolicy(Number(box.id.slice(4))); });
}
