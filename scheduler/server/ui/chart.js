// A plot that uPlot draws: as wide as its box, in the colours of the page. The reports of bench replay have this file in their own script, so it imports
// nothing.

/* global uPlot */

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export function axisStyle() {
  const rule = { stroke: colour('--rule'), width: 1 };
  return { stroke: colour('--soft'), grid: rule, ticks: rule };
}

export const charts = [];

export class Chart {
  // `options` gives those of uPlot without a size, anew for other colours.
  constructor(box, height, options) {
    Object.assign(this, { box, height, options });
    new ResizeObserver(() => this.resize()).observe(box);
    charts.push(this);
  }

  size() { return { width: Math.max(100, this.box.clientWidth), height: this.height }; }

  show(columns) {
    this.columns = columns;
    if (this.plot) this.plot.setData(columns);
    else this.redraw();
  }

  redraw() {
    if (!this.columns) return;
    this.plot?.destroy();
    this.plot = new uPlot({ ...this.size(), ...this.options() }, this.columns, this.box);
  }

  resize() {
    if (this.plot && this.plot.width !== this.size().width) this.plot.setSize(this.size());
  }
}

const redrawAll = () => { for (const chart of charts) chart.redraw(); };
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
// Paper has the light colours, and a canvas keeps those that it was drawn with.
for (const [event, isPaper] of [['beforeprint', true], ['afterprint', false]]) {
  addEventListener(event, () => { document.documentElement.classList.toggle('print', isPaper); redrawAll(); });
}
