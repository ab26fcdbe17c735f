// The maps of nodes: each node with its GPUs as the live page draws them; where there are too many, nodes that are alike once, with their number.

const kMostCells = 640;  // of a map that draws each node

// Thousandths taken of each GPU, from ".B#cs" (see node_map.cc).
function unpackDevices(packed) {
  const taken = [];
  for (const [, run, length, part] of packed.matchAll(/([.#])([A-Z]?)|([0-9a-z]{2})/g)) {
    if (part) taken.push(parseInt(part, 36));
    else for (let i = length ? length.charCodeAt(0) - 63 : 1; i > 0; --i) taken.push(run === '#' ? 1000 : 0);
  }
  return taken;
}

const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const mean = numbers => sum(numbers) / numbers.length;

function make(tag, className, text, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...(text ? [text] : []), ...children);
  return made;
}

function cellOf(taken) {
  const cell = make('i', 'cell' + (taken >= 1000 ? ' used' : taken > 0 ? ' part' : ''));
  if (taken > 0 && taken < 1000) cell.style.setProperty('--v', Math.round(taken / 10));
  return cell;
}

// Nodes with as many full, partly taken and free GPUs are one: [{ title, devices, cpu }], the most frequent first.
function alike(nodes) {
  const groups = new Map();
  for (const node of nodes) {
    const devices = [...node.devices].sort((a, b) => b - a);
    const key = devices.map(taken => taken >= 1000 ? 'f' : taken > 0 ? 'p' : '-').join('');
    groups.set(key, [...(groups.get(key) || []), { ...node, devices }]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length).map(group => ({
    title: group.length === 1 ? group[0].title : `${group.length} nodes`,
    devices: group[0].devices.map((_, i) => mean(group.map(node => node.devices[i]))),
    cpu: mean(group.map(node => node.cpu)),
  }));
}

function nodeItem({ title, devices, cpu }) {
  const meter = make('i', 'cpu');
  meter.style.setProperty('--v', (cpu / 10).toFixed(0));
  const item = make('li', 'node', '', make('h4', '', title), make('div', 'cells', '', ...devices.map(cellOf)), meter);
  item.about = `${title}\nGPUs: ${devices.map(taken => (taken / 10).toFixed(0) + ' %').join(', ')}\nCPU: ${(cpu / 10).toFixed(0)} %`;
  item.setAttribute('aria-label', item.about);
  return item;
}

// The pointer or the arrow keys choose a node, whose amounts are told.
function tellOf(list) {
  const tell = item => {
    if (!item) return hideTip();
    const box = item.getBoundingClientRect();
    showTip(item.about, box.left + 20, box.top + 20);
  };
  list.addEventListener('pointerover', event => tell(event.target.closest('.node')));
  list.addEventListener('pointerleave', hideTip);
  list.addEventListener('focusin', event => tell(event.target.closest('.node')));
  list.addEventListener('focusout', hideTip);
  list.addEventListener('keydown', event => {
    const item = event.target.closest('.node');
    const next = { ArrowRight: item?.nextElementSibling, ArrowLeft: item?.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    item.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}

// One map: which policy, which moment, and the nodes of each GPU model.
class NodeMap {
  constructor(cluster, policies, chosen) {
    Object.assign(this, { cluster, policies });
    const choices = make('div', 'choices');
    this.policy = this.choice('policy', choices);
    this.moment = this.choice('moment', choices);
    policies.forEach((policy, i) => this.policy.add(new Option(policy.name, i)));
    this.policy.value = chosen;
    this.policy.onchange = () => { this.fillMoments(); this.draw(); };
    this.moment.onchange = () => this.draw();
    this.models = make('div');
    this.root = make('div', 'map', '', choices, this.models);
    this.fillMoments();
    this.draw();
  }

  choice(name, into) {
    const select = make('select');
    into.append(make('label', '', name + ' ', select));
    return select;
  }

  fillMoments() {
    const before = this.moment.selectedOptions[0]?.textContent;
    const moments = this.policies[this.policy.value].moments;
    this.moment.replaceChildren(...moments.map((moment, i) => new Option(moment.title, i)));
    const same = moments.findIndex(moment => moment.title === before);
    this.moment.value = same < 0 ? moments.length - 1 : same;
  }

  // How many GPUs each node has.
  countsOf(moment) { return moment.counts || this.cluster.gpus; }

  // By model, the one with the most GPUs first.
  nodesByModel(moment) {
    const taken = unpackDevices(moment.gpus);
    const counts = this.countsOf(moment);
    const models = new Map();
    let first = 0;
    this.cluster.names.forEach((title, i) => {
      const devices = taken.slice(first, first += counts[i]);
      if (devices.length === 0) return;
      const model = this.cluster.models[this.cluster.model[i]] || 'no model';
      models.set(model, [...(models.get(model) || []), { title, devices, cpu: parseInt(moment.cpu.slice(2 * i, 2 * i + 2), 36) }]);
    });
    const gpusOf = ([, nodes]) => sum(nodes.map(node => node.devices.length));
    return [...models].sort((a, b) => gpusOf(b) - gpusOf(a));
  }

  draw() {
    const moment = this.policies[this.policy.value].moments[this.moment.value];
    if (!moment) return;
    const isGrouped = sum(this.countsOf(moment)) > kMostCells;
    this.models.replaceChildren(...this.nodesByModel(moment).flatMap(([model, nodes]) => {
      const gpus = nodes.flatMap(node => node.devices);
      const list = make('ul', 'nodes', '', ...(isGrouped ? alike(nodes) : nodes).map(nodeItem));
      list.firstElementChild.tabIndex = 0;
      for (const item of [...list.children].slice(1)) item.tabIndex = -1;
      tellOf(list);
      return [make('h4', '', `${model}: ${nodes.length} nodes, ${gpus.length} GPUs, ${(mean(gpus) / 10).toFixed(1)} % taken`), list];
    }));
    if (isGrouped) this.models.prepend(make('p', 'note', 'Nodes of a model with as many full, partly taken and free GPUs are drawn once, with their number.'));
  }
}

for (const box of document.querySelectorAll('.maps')) {
  const cluster = JSON.parse(document.getElementById(box.dataset.cluster).textContent);
  const policies = JSON.parse(box.querySelector('script').textContent).filter(policy => policy.moments.length > 0);
  box.append(...policies.slice(0, 2).map((_, i) => new NodeMap(cluster, policies, i).root));
}
