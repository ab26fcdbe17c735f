// Elements, made and kept up to date. Whatever comes from the cluster becomes text, never HTML.

// el('td', { class: 'number', title: '…' }, 'text', element, …)
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}

export const byId = id => document.getElementById(id);

// Nothing is touched that stays as it is: selections, focus and scroll positions outlast a refresh.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (value === null || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

// The children of `parent` become those of `items`, by key: kept ones are updated in place.
export function keyed(parent, items, keyOf, make, update) {
  const there = parent.keyed || (parent.keyed = new Map());
  const wanted = new Set(items.map(keyOf));
  for (const [key, child] of there) {
    if (wanted.has(key)) continue;
    child.remove();
    there.delete(key);
  }
  let before = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let child = there.get(key);
    if (!child) {
      child = make(item);
      there.set(key, child);
    }
    if (child === before) before = before.nextElementSibling;
    else parent.insertBefore(child, before);
    update(child, item);
  }
}

// A table of texts: heads once, rows by key. A cell is a text, or { text, class, title }.
export function fillTable(table, caption, heads, rows) {
  if (!table.tHead) {
    table.append(el('caption', { class: 'unseen' }, caption));
    table.append(el('thead', {}, el('tr', {}, ...heads.map(head =>
      el('th', { scope: 'col', class: head.class }, head.text)))), el('tbody'));
  }
  keyed(table.tBodies[0], rows, row => row.key, row => el('tr', {}, ...row.cells.map((cell, i) =>
    i === 0 ? el('th', { scope: 'row' }) : el('td', {}))), (tr, row) => {
    setAttribute(tr, 'class', row.class || null);
    row.cells.forEach((cell, i) => {
      const { text, class: kind, title } = typeof cell === 'object' ? cell : { text: String(cell) };
      const td = tr.cells[i];
      setText(td, String(text));
      setAttribute(td, 'class', kind || null);
      setAttribute(td, 'title', title || null);
    });
  });
}

const numbers = new Intl.NumberFormat('en');
export const number = value => numbers.format(value);
export const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many || one + 's'}`;

// "45 s", "7 min", "3 h", "2 d"
export function duration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h`;
  return `${Math.floor(whole / 86400)} d`;
}

// Of an element that has it: "H100-80GB", "H100-80GB mig-1g.10gb".
export const typeName = row => [row.type || 'unknown type', row.form].filter(Boolean).join(' ');

export const kAskAgain = 10000;  // ms: what is open is asked for anew

// What the server says instead of an answer is a sentence.
export async function ask(path, parameters) {
  const query = parameters ? '?' + new URLSearchParams(parameters) : '';
  const response = await fetch(path + query, { cache: 'no-store', signal: AbortSignal.timeout(15000) });
  if (response.ok) return response.json();
  const text = (await response.text()).trim();
  throw new Error(text.length > 0 && text.length < 500 ? text : `the answer is ${response.status}`);
}
