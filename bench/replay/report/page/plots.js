// Values of the plots under the pointer, or under the arrow keys.
'use strict';


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

// The points of a path, in the SVG's units: "M0 9900l77-76 77-75V…" (what follows V is not data).
function pointsOf(path) {
  const data = path.getAttribute('d').split('V')[0];
  const numbers = (data.match(/-?\d+/g) || []).map(Number);
  const points = [];
  let x = 0, y = 0;
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    x += numbers[i];
    y += numbers[i + 1];
    points.push([x, y]);
  }
  return points;
}

// The curve's height at x, between its points.
function heightAt(points, x) {
  let i = points.findIndex(point => point[0] >= x);
  if (i < 0) i = points.length - 1;
  const [x1, y1] = points[i], [x0, y0] = points[Math.max(0, i - 1)];
  return x1 > x0 && x > x0 ? y0 + (y1 - y0) * Math.min(1, (x - x0) / (x1 - x0)) : y1;
}

function durationText(seconds) {
  for (const [size, name] of [[86400, 'd'], [3600, 'h'], [60, 'min']]) {
    if (seconds >= size) return (seconds / size).toFixed(1) + ' ' + name;
  }
  return seconds.toFixed(0) + ' s';
}

class PlotReader {
  constructor(frame) {
    this.frame = frame;
    const [x0, x1, kind] = frame.dataset.x.split(' ');
    this.x = [Number(x0), Number(x1)];
    this.log = kind === 'log';
    this.y = frame.dataset.y.split(' ').map(Number);
    this.cursor = document.createElement('div');
    this.cursor.className = 'cursor';
    this.cursor.hidden = true;
    frame.append(this.cursor);
    frame.tabIndex = 0;
    this.at = 0.5;
    frame.addEventListener('pointermove', e => {
      const box = frame.getBoundingClientRect();
      this.show((e.clientX - box.left) / box.width, e.clientX, e.clientY);
    });
    for (const gone of ['pointerleave', 'blur']) frame.addEventListener(gone, () => this.hide());
    frame.addEventListener('keydown', e => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[e.key];
      if (e.key === 'Escape') this.hide();
      if (!step) return;
      e.preventDefault();
      const box = frame.getBoundingClientRect();
      this.show(this.at + step, box.left + (this.at + step) * box.width, box.top + 20);
    });
  }

  // Read when first asked for.
  curves() {
    this.read ||= [...this.frame.querySelectorAll('path[data-n]')].map(path => ({
      path, name: path.dataset.n, isArea: path.classList.contains('area'), points: pointsOf(path)
    }));
    return this.read.filter(curve => getComputedStyle(curve.path).display !== 'none');
  }

  valueX(at) {
    const [from, to] = this.x;
    if (this.log) return durationText(from * Math.pow(to / from, at));
    return (from + at * (to - from)).toFixed(to - from < 200 ? 1 : 0).replace(/\.0$/, '');
  }

  valueY(y) { return this.y[0] + (1 - y / 10000) * (this.y[1] - this.y[0]); }

  rows(at) {
    const curves = this.curves();
    const values = curves.map(curve => this.valueY(heightAt(curve.points, at * 10000)));
    return curves.map((curve, i) => {
      // Areas are stacked, the highest first: what is below is not its own.
      const below = curve.isArea && i + 1 < curves.length ? values[i + 1] : 0;
      return [curve.name, values[i] - (curve.isArea ? below : 0), curve.isArea ? -i : values[i]];
    }).sort((a, b) => b[2] - a[2]);
  }

  show(at, clientX, clientY) {
    this.at = Math.max(0, Math.min(1, at));
    this.cursor.hidden = false;
    this.cursor.style.left = this.at * 100 + '%';
    const rows = this.rows(this.at).map(([name, value]) => value.toFixed(2) + '  ' + name);
    showTip(this.valueX(this.at) + '\n' + rows.join('\n'), clientX, clientY);
  }

  hide() {
    this.cursor.hidden = true;
    hideTip();
  }
}

document.querySelectorAll('.frame').forEach(frame => new PlotReader(frame));
addEventListener('scroll', hideTip, { passive: true });
