// Looks at the scheduler's page as a person does, in a real browser, and says what is wrong with it.
//
//   node ui.mjs URL FOLDER
//
// It prints one JSON object a line: {"say": "change"} when the cluster is to change (a pod "late" of the namespace "default" is to come to wait),
// {"say": "cut"} when the way to the scheduler is to end, and at the end {"tiles", "types", "pods", "wrong": [...]}: the numbers on the page, and in
// sentences what is wrong. Pictures of the page are left in FOLDER.
import { createRequire } from 'node:module';
import { mkdirSync } from 'node:fs';

const require = createRequire(process.env.BROWSER_MODULES + '/');
const { chromium } = require('playwright-core');

const [url, folder] = process.argv.slice(2);
const wrong = [];
const want = (is, sentence) => { if (!is) wrong.push(sentence); };
const say = what => console.log(JSON.stringify(what));

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });

// A page that notes what goes wrong in it. `isCut`: from then on no answer comes.
async function open(width, colorScheme) {
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  const name = `${width} px, ${colorScheme}`;
  page.isCut = false;
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type()) && !page.isCut) wrong.push(`${name}: console: ${message.text()}`);
  });
  page.on('pageerror', error => wrong.push(`${name}: ${error.message}`));
  page.on('dialog', dialog => { wrong.push(`${name}: a dialog, "${dialog.message()}": a text of the cluster ran as code`); dialog.dismiss(); });
  page.on('request', request => want(request.url().startsWith(url), `${name}: a request to ${request.url()}`));
  const answer = await page.goto(url);
  want(/default-src 'self'/.test(answer.headers()['content-security-policy']), `${name}: no Content-Security-Policy`);
  await page.waitForSelector('#age[data-state=live]');
  await page.waitForSelector('#rows > li');
  return page;
}

// Texts whose contrast to what is behind them is below WCAG's AA.
function lowContrast() {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
  const ground = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const light = colour => {
    const [r, g, b] = colour.map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility() || element.closest('script, noscript, option')) continue;
    const style = getComputedStyle(element);
    const behind = ground(element);
    const [a, b] = [light(over(rgba(style.color), behind)), light(behind)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    if ((a + 0.05) / (b + 0.05) < least) found.push(`"${node.textContent.trim().slice(0, 40)}" has ${((a + 0.05) / (b + 0.05)).toFixed(1)}`);
  }
  return found;
}

// What can be operated and has no name that is read out.
function nameless() {
  const named = element => element.textContent.trim() || element.getAttribute('aria-label') || element.labels?.length > 0 ||
    document.getElementById(element.getAttribute('aria-labelledby'));
  return [...document.querySelectorAll('button, input, select, textarea, a, [role=img], [role=region], section')]
    .filter(element => !named(element)).map(element => element.outerHTML.slice(0, 80));
}

const smallCells = () => [...document.querySelectorAll('#map .cell')].filter(cell => cell.getBoundingClientRect().width < 14).length;

async function look(page, width, colorScheme) {
  const name = `${width} px, ${colorScheme}`;
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  want(beyond <= 0, `${name}: the page is ${beyond} px too wide`);
  want(await page.evaluate(smallCells) === 0, `${name}: squares of the map are smaller than 14 px`);
  want(await page.locator('#map .cell').count() > 0, `${name}: the map is empty`);
  want(await page.locator('#plots canvas').count() === 2, `${name}: the curves are missing`);
  for (const text of await page.evaluate(lowContrast)) wrong.push(`${name}: contrast: ${text}`);
  for (const text of await page.evaluate(nameless)) wrong.push(`${name}: without a name: ${text}`);
}

// Presses Tab until the focus is on what matches.
async function tabTo(page, selector) {
  for (let i = 0; i < 200; ++i) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(s => document.activeElement.matches(s), selector)) return true;
  }
  wrong.push(`Tab does not come to ${selector}`);
  return false;
}

// By the keyboard alone: a row is opened, and a question is asked.
async function operate(page) {
  await page.keyboard.press('Tab');
  want(await page.evaluate(() => document.activeElement.className) === 'skip', 'the first Tab does not lead to the skip link');
  await page.keyboard.press('Enter');
  await tabTo(page, '#rows > li > button');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#rows [aria-expanded=true] + .evidence .why');
  want(await page.locator('#rows .why .steps li').count() > 0, 'the evidence has no next step');
  want(await page.locator('#rows .why .reasons tbody tr').count() > 0, 'the evidence has no reasons of nodes');
  await tabTo(page, '#ask-gpus');
  await page.locator('#map button', { hasText: 'h100-0' }).focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#map .pods:not([hidden])').textContent === 'vision/runs 2');
  await page.focus('#ask-gpus');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#answer .why');
  want(await page.locator('#answer .why').getAttribute('data-verdict') === 'Starts', 'two GPUs would not start, says the page');
  await page.locator('#ask-manifest').evaluate(() => document.querySelector('[value=manifest]').click());
  await page.fill('#ask-manifest', '# nine\nkind: Pod\nspec:\n  schedulerName: gpu-scheduler\n  containers:\n  - resources: {limits: {nvidia.com/gpu: 900}}\n');
  await page.focus('#ask button');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#answer .why[data-verdict=Waits]');
  await page.fill('#ask-manifest', 'kind: Pod\nspec:\n  schedulerName: gpu-scheduler\n  nodeSelector: {nvidia.com/gpu.product: none}\n' +
    '  containers:\n  - resources: {limits: {nvidia.com/gpu: 1}}\n');
  await page.focus('#ask button');
  await page.keyboard.press('Enter');
  const change = /Change the pod: nodeSelector nvidia.com\/gpu.product: NVIDIA-H100-80GB-HBM3; h100-. would take it now/;
  await page.waitForFunction(said => new RegExp(said).test(document.querySelector('#answer .steps')?.textContent), change.source);
  await page.fill('#find-pod', 'default/no-room');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#found .why');
  const meant = 'Is "gpu-scheduler" meant?';
  want((await text(page, '#misnamed')).includes(`default/typo waits for a scheduler "gpu-schedular". ${meant}`),
    'the page does not say that a scheduler\'s name is misspelt');
  await page.fill('#find-pod', 'runs');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /vision\/runs does not wait: it was bound to h100-0/.test(document.querySelector('#found').textContent));
  await page.fill('#find-pod', 'typo');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelector('#found').textContent.includes('Is "gpu-scheduler" meant?'));
}

const text = (page, selector) => page.locator(selector).textContent();
const count = async (page, tile) => Number((await text(page, `[data-tile=${tile}] b`)).replaceAll(',', ''));

// Of a scheduler that has just begun to lead there is one sample.
async function plotOneSample(page) {
  const until = await page.evaluate(async () => {
    const [{ showHistory }, { charts }] = await Promise.all([import('./history.js'), import('./chart.js')]);
    const now = Math.floor(Date.now() / 1000);
    showHistory({ asOf: new Date(now * 1000).toISOString(), overview: { gpus: { total: 8, used: 2, free: 6 }, waiting: { pods: 1, gpus: 1 } },
      history: { intervalSeconds: 60, at: [now], gpusTotal: [8], gpusUsed: [2], gpusFree: [6], waitingPods: [1], waitingGpus: [1] } });
    await new Promise(requestAnimationFrame);
    return charts[0].plot.scales.x.max;
  });
  want(until * 1000 < Date.now() + 60_000, 'a plot of one sample shows times that are still to come');
}

// A scheduler that answers, and whose watches have brought nothing for ten minutes.
async function seeOldData(page) {
  await page.route('**/state', async route => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json(), dataAgeSeconds: 600 } });
  });
  await page.waitForSelector('#age[data-state=old]');
  want(/^old data · as of 10 min ago/.test(await text(page, '#age')), `data of ten minutes ago are "${await text(page, '#age')}"`);
  await page.unroute('**/state');
  await page.waitForSelector('#age[data-state=live]');
}

// What a pod waits for decides what the page advises.
async function advise(page) {
  const waits = { verdict: 'Waits', pod: { namespace: 'demo', name: 'asked' }, asks: '1 H100', quota: '', since: new Date().toISOString(), node: '', allNodes: 2,
    fittingNodes: 0, reasons: [], details: '', candidates: [], freesWhen: { node: '', podsEnd: [] }, wouldRunOnOneMore: '', wouldRunIfChanged: [],
    waitsForNodes: false, waitsForPods: false, waitsForQuota: false, quotaNeverGives: false };
  for (const [headline, given, advice] of [
    ['cpu: needs 900 on one node', { waitsForNodes: true }, /^No node here would take it, even if the node were empty/],
    ['1 of the 4 pods that start together as group train are there', { waitsForPods: true, fittingNodes: 1 }, /^Create the missing pods of its group/],
    ['the turn of its group train comes', { fittingNodes: 1 }, /^$/],
    ['namespace demo has no GPU quota, and pods without quota get no GPUs', { waitsForQuota: true, quotaNeverGives: true, fittingNodes: 1 },
      /^Ask for a type and number that its quota gives, or ask an administrator for a quota that gives it: kubectl gpu quota -n demo$/],
    ['quota q: H100 needs 1, 4 of 4 in use', { waitsForQuota: true }, /^Wait until pods of the quota end/],
    ['persistentvolumeclaim "nope" not found', {}, /^$/],
  ]) {
    const steps = await page.evaluate(async why => {
      const { whyAnswer } = await import('./why.js');
      return whyAnswer(why, false).querySelector('.steps')?.textContent ?? '';
    }, { ...waits, headline, ...given });
    want(advice.test(steps), `of a pod that waits since "${headline}" the page advises "${steps}"`);
  }
}

// The picture of the docs: the page with a pod opened.
async function portrait(page) {
  await page.locator('#rows > li > button', { hasText: 'vision/too-large' }).click();
  await page.waitForSelector('#rows .why');
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.screenshot({ path: `${folder}/page.png` });
  await page.context().close();
}

// The questions of docs/questions.md that the page answers: what is pressed first, where the answer is, and what it says.
const tooLarge = '#rows > li:has(.name:text-is("vision/too-large"))';
const questions = [
  ['why a pod waits', null, `${tooLarge} .sentence`, /quota/],
  ['since when it waits', null, `${tooLarge} .waited`, /\d/],
  ['who waits longest', null, '#rows-note', /The oldest, [\w-]+\/[\w-]+, has waited since /],
  ['what to do about it', `${tooLarge} > button`, `${tooLarge} .why`, /What to do/],
  ['who has the GPUs of a node', '#map button:has-text("h100-0")', '#map .pods:not([hidden])', /vision\/runs/],
  ['how many are free, and how many at once', null, '#types', /H100/],
  ['whether a quota is used up', null, '#quotas', /team-visionH1002 of 4/],
  ['why a pod is where it is', null, '#bound', /vision\/runs/],
  ['what would become of a pod', '#ask button', '#answer .why', /now/],
  ['how old what is seen is', null, '#age', /\d/],
];

// What the last row opens to is seen at once, also where the rows scroll in a box.
async function seeAnswer(page) {
  const row = page.locator('#rows > li').last();
  await row.locator('button').click();
  await row.locator('.why .headline').waitFor();
  const isSeen = await row.locator('.why .headline').evaluate(headline => new Promise(resolve =>
    new IntersectionObserver(([seen]) => resolve(seen.isIntersecting), { threshold: 0.9 }).observe(headline)));
  want(isSeen, 'what the last row opens to is out of sight');
}

// Each is answered on one screen, after one click at most.
async function answer(page) {
  const { height } = page.viewportSize();
  for (const [question, press, at, says] of questions) {
    if (press) await page.locator(press).first().click();
    const place = page.locator(at).first();
    await place.waitFor();
    await place.scrollIntoViewIfNeeded();
    const box = await place.boundingBox();
    want(says.test(await place.textContent()), `${question}: the page says "${(await place.textContent()).slice(0, 200)}"`);
    want(box.height <= height, `${question}: the answer is ${box.height} px high, the screen ${height}`);
  }
  await page.context().close();
}

async function numbers(page) {
  const tiles = {};
  for (const tile of ['gpus', 'gpus-used', 'gpus-free', 'gpus-closed', 'waiting']) tiles[tile] = await count(page, tile);
  const types = await page.locator('#types-table tbody tr').evaluateAll(rows => rows.map(row => [...row.cells].map(cell => cell.textContent)));
  const pods = await page.locator('#rows > li').evaluateAll(rows => rows.map(row => [row.querySelector('.name').textContent,
    row.querySelector('.sentence').textContent]));
  return { tiles, types, pods };
}

// The cluster changes: the page shows it, and nothing that was there is made anew.
async function live(page) {
  const row = await page.locator('#rows > li').first().elementHandle();
  await page.locator('#rows > li > button').first().focus();
  say({ say: 'change' });
  await page.waitForFunction(() => document.querySelector('#rows').textContent.includes('default/late'), null, { timeout: 60000 });
  want(await page.evaluate(element => element.isConnected && element.contains(document.activeElement), row),
    'a refresh made a row anew, or took the focus from it');
  want(await page.locator('#rows [aria-expanded=true]').count() === 1, 'a refresh closed what was open');
  await page.waitForRequest(request => request.url().endsWith('/node?node=h100-0'));
  want(await page.locator('#map .pods li').count() === 1, 'the pods of a node are not kept');
}

async function lose(page) {
  page.isCut = true;
  const before = await numbers(page);
  say({ say: 'cut' });
  await page.waitForSelector('#trouble:not([hidden])', { timeout: 60000 });
  want(/^Connection lost since /.test(await text(page, '#trouble')), 'the page does not say that the connection is lost');
  want(await page.locator('#age').getAttribute('data-state') === 'old', 'the age of the data does not show that they are old');
  want(JSON.stringify(before) === JSON.stringify(await numbers(page)), 'what was shown last is gone');
}

try {
  for (const width of [1280, 360]) {
    const page = await open(width, 'light');
    await seeAnswer(page);
    await page.context().close();
  }
  await portrait(await open(1280, 'light'));
  await answer(await open(1280, 'light'));
  let wide;
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 360]) {
      const page = await open(width, colorScheme);
      if (!wide) {
        wide = page;
        await operate(page);
      } else {
        await page.locator('#rows > li > button').first().click();
        await page.waitForSelector('#rows .why');
      }
      await look(page, width, colorScheme);
      await page.screenshot({ path: `${folder}/ui-${width}-${colorScheme}.png`, fullPage: true });
      if (page !== wide) await page.context().close();
    }
  }
  await plotOneSample(wide);
  await advise(wide);
  await seeOldData(wide);
  await live(wide);
  const shown = await numbers(wide);
  await lose(wide);
  await wide.screenshot({ path: `${folder}/ui-lost.png` });
  say({ ...shown, wrong });
} catch (error) {
  for (const page of browser.contexts().flatMap(context => context.pages())) await page.screenshot({ path: `${folder}/ui-failed.png`, fullPage: true });
  say({ wrong: [...wrong, error.stack] });
} finally {
  await browser.close();
}
