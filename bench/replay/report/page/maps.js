// The maps of nodes, drawn on canvases: a thousand nodes are too many elements for a page.

// Thousandths taken of each GPU, from ".B#cs" (see node_map.cc).
function unpackDevices(packed) {
  const taken = [];
  for (const [, run, length, part] of packed.matchAll(/([.#])([A-Z]?)|([0-9a-z]{2})/g)) {
    if (part) taken.push(parseInt(part, 36));
    else for (let i = length ? length.charCodeAt(0) - 63 : 1; i > 0; --i) taken.push(run === '#' ? 1000 : 0);
  }
  return taken;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function mixed(from, to, share) {
  const parts = [from, to].map(c => [1, 3, 5].map(i => parseInt(c.slice(i, i + 2), 16)));
  return 'rgb(' + parts[0].map((p, i) => Math.round(p + (parts[1][i] - p) * share)) + ')';
}

const kGap = 4;  // between nodes, pixels

// The nodes of one GPU model on a canvas: rows of cells, side by side as far as there is room.
class ModelCells {
  constructor(nodes) {
    this.nodes = nodes;  // [{name, gpus, first, index}]
    this.heading = document.createElement('h4');
    this.canvas = document.createElement('canvas');
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.selected = -1;
    this.canvas.addEventListener('pointermove', e => {
      const box = this.canvas.getBoundingClientRect();
      this.select(this.nodeAt(e.clientX - box.left, e.clientY - box.top), e.clientX, e.clientY);
    });
    for (const gone of ['pointerleave', 'blur']) this.canvas.addEventListener(gone, hideTip);
    this.canvas.addEventListener('keydown', e => {
      const next = this.neighbour(e.key);
      if (next === undefined) return;
      e.preventDefault();
      const box = this.canvas.getBoundingClientRect();
      this.select(next, box.left + this.places[next].left, box.top + this.places[next].top);
    });
  }

  nodeAt(x, y) {
    return this.places.findIndex(({ left, top }, i) => y >= top && y < top + this.height &&
      x >= left && x < left + this.nodes[i].gpus * this.cell + kGap);
  }

  // The node that an arrow key leads to from the selected one.
  neighbour(key) {
    const last = this.nodes.length - 1, here = Math.max(0, this.selected);
    const { left, top } = this.places[here];
    switch (key) {
      case 'ArrowLeft': return Math.max(0, here - 1);
      case 'ArrowRight': return Math.min(last, this.selected + 1);
      case 'ArrowUp': return Math.max(0, this.nodeAt(left, top - this.height));
      case 'ArrowDown': { const at = this.nodeAt(left, top + this.height); return at < 0 ? last : at; }
    }
  }

  select(at, x, y) {
    this.selected = at;
    if (at < 0) return hideTip();
    const node = this.nodes[at];
    const devices = this.state.taken.slice(node.first, node.first + node.gpus);
    const text = node.name + '\nGPUs: ' + devices.map(t => t / 10 + ' %').join(', ') +
      '\nCPU: ' + (this.state.cpu[node.index] / 10).toFixed(0) + ' %';
    this.canvas.setAttribute('aria-label', text);
    showTip(text, x, y);
  }

  layOut(room) {
    this.cell = room < 420 ? 4 : 5;
    this.height = this.cell + kGap;
    let left = 0, top = 0;
    this.places = this.nodes.map(node => {
      const width = node.gpus * this.cell;
      if (left > 0 && left + width > room) [left, top] = [0, top + this.height];
      const place = { left, top };
      left += width + kGap;
      return place;
    });
    return top + this.height;
  }

  draw(title, state, colours) {
    this.state = state;
    const room = this.canvas.clientWidth;
    const height = this.layOut(room);
    const scale = devicePixelRatio || 1;
    this.canvas.style.height = height + 'px';
    this.canvas.width = Math.round(room * scale);
    this.canvas.height = Math.round(height * scale);
    const pen = this.canvas.getContext('2d');
    pen.scale(scale, scale);
    let all = 0;
    this.nodes.forEach((node, i) => {
      const { left, top } = this.places[i];
      for (let g = 0; g < node.gpus; ++g) {
        const taken = state.taken[node.first + g];
        all += taken;
        pen.fillStyle = colours(taken);
        pen.fillRect(left + g * this.cell, top, this.cell - 0.6, this.cell - 0.6);
      }
      pen.fillStyle = colours(-1);
      pen.fillRect(left, top + this.cell, node.gpus * this.cell * state.cpu[node.index] / 1000, 1.4);
    });
    const gpus = this.nodes.reduce((sum, node) => sum + node.gpus, 0);
    this.heading.textContent = `${title}: ${this.nodes.length} nodes, ${gpus} GPUs, ` +
      `${(all / gpus / 10).toFixed(1)} % taken`;
    this.canvas.setAttribute('aria-label', this.heading.textContent);
  }
}

function cellColours() {
  const [free, from, to, full, cpu] =
    ['--free', '--shared-from', '--shared-to', '--full', '--cpu'].map(colour);
  return taken => taken < 0 ? cpu : taken === 0 ? free : taken >= 1000 ? full : mixed(from, to, taken / 1000);
}

// One map: which policy, which moment, and the cells of each GPU model.
class NodeMap {
  constructor(cluster, policies, chosen) {
    this.policies = policies;
    this.root = document.createElement('div');
    this.root.className = 'map';
    const choices = document.createElement('div');
    choices.className = 'choices';
    this.policy = this.choice('policy', choices);
    this.moment = this.choice('moment', choices);
    policies.forEach((p, i) => this.policy.add(new Option(`${p.name}, seed ${p.seed}`, i)));
    this.policy.value = chosen;
    this.policy.onchange = () => { this.fillMoments(); this.draw(); };
    this.moment.onchange = () => this.draw();
    this.cells = document.createElement('div');
    this.cells.className = 'cells';
    this.root.append(choices, this.cells);
    this.models = new Map();
    let first = 0;
    cluster.names.forEach((name, index) => {
      const node = { name, index, first, gpus: cluster.gpus[index] };
      first += node.gpus;
      const model = cluster.models[cluster.model[index]] || 'no model';
      if (node.gpus > 0) this.models.set(model, [...(this.models.get(model) || []), node]);
    });
    const size = nodes => nodes.reduce((sum, node) => sum + node.gpus, 0);
    this.models = new Map([...this.models].sort((a, b) => size(b[1]) - size(a[1]))
      .map(([model, nodes]) => [model, new ModelCells(nodes)]));
    for (const model of this.models.values()) this.cells.append(model.heading, model.canvas);
    this.fillMoments();
  }

  choice(name, into) {
    const label = document.createElement('label');
    const select = document.createElement('select');
    label.append(name + ' ', select);
    into.append(label);
    return select;
  }

  fillMoments() {
    const before = this.moment.selectedOptions[0]?.textContent;
    const moments = this.policies[this.policy.value].moments;
    this.moment.replaceChildren(...moments.map((m, i) => new Option(m.title, i)));
    const same = moments.findIndex(m => m.title === before);
    this.moment.value = same < 0 ? moments.length - 1 : same;
  }

  draw() {
    const moment = this.policies[this.policy.value].moments[this.moment.value];
    if (!moment || this.root.clientWidth === 0) return;
    const cpu = moment.cpu.match(/../g).map(digits => parseInt(digits, 36));
    const state = { taken: unpackDevices(moment.gpus), cpu };
    const colours = cellColours();
    for (const [title, cells] of this.models) cells.draw(title, state, colours);
  }
}

function scaleOfMaps() {
  const scale = document.createElement('div');
  scale.className = 'scale';
  const parts = [['--free', 'free'], ['--shared-from', 'little taken'], ['--shared-to', 'mostly taken'],
    ['--full', 'fully taken'], ['--cpu', 'CPU taken (line)']];
  for (const [name, text] of parts) {
    const part = document.createElement('span');
    const patch = document.createElement('b');
    patch.style.background = `var(${name})`;
    part.append(patch, text);
    scale.append(part);
  }
  return scale;
}

function startMaps(box) {
  const cluster = JSON.parse(document.getElementById(box.dataset.cluster).textContent);
  const policies = JSON.parse(box.querySelector('script').textContent)
    .filter(policy => policy.moments.length > 0);
  if (policies.length === 0) return [];
  const maps = policies.slice(0, 2).map((_, i) => new NodeMap(cluster, policies, i));
  box.append(scaleOfMaps(), ...maps.map(map => map.root));
  return maps;
}

const maps = [...document.querySelectorAll('.maps')].flatMap(startMaps);
const drawMaps = () => maps.forEach(map => map.draw());
drawMaps();
let resized = 0;
addEventListener('resize', () => { cancelAnimationFrame(resized); resized = requestAnimationFrame(drawMaps); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawMaps);
