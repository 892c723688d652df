// check.js - run.sh adds this to a page, and a browser runs it after the page's own script: uses
// the page as a reader would, and checks that no two texts overlap, what the search, the keys and
// the pointer do, and that nothing was loaded. The title is then `page: N passed, N failed`, and
// the body says what failed.
'use strict';
let passed = 0;
const failed = [];
function check(ok, what) {
  if (ok) passed++;
  else failed.push(what);
}
// All texts on the canvas: none may overlap another one, or leave the canvas.
function overlaps(when) {
  draw();
  const list = window.drawn.slice().sort((a, b) => a.x - b.x);
  let bad = '';
  list.forEach((a, i) => {
    if (a.x < 0 || a.x + a.w > width + 1) bad = 'outside: ' + a.s;
    for (let k = i + 1; k < list.length && list[k].x < a.x + a.w - 1; k++)
      if (list[k].y < a.y + a.h - 1 && a.y < list[k].y + list[k].h - 1)
        bad = a.s + ' | ' + list[k].s;
  });
  check(!bad, when + ': ' + bad);
  return list.length;
}
function press(key, target = canvas) {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}
function point(type, x, y, more = {}) {
  const r = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent(type, { clientX: r.left + x, clientY: r.top + y,
    pointerId: 1, pointerType: 'mouse', bubbles: true, ...more }));
}
canvas.setPointerCapture = () => {};
try {
  check(performance.getEntriesByType('resource').length === 0, 'something was loaded');
  check(overlaps('all') > 8, 'too few texts');
  for (let i = 0; i < 24; i++) {
    zoom(.6, left + (width - left) * (i * .37 % 1));
    overlaps('zoomed ' + i);
  }
  for (let i = 0; i < 12; i++) {
    show(D.span * (i / 12), D.span / 10 ** (i % 5));
    overlaps('moved ' + i);
  }
  show(0, ALL);
  draw();

  // the wheel zooms, and what is below it stays there
  const x = left + (width - left) / 3, before = NS(x), was = shown.ns;
  canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -240, bubbles: true, cancelable: true,
    clientX: canvas.getBoundingClientRect().left + x }));
  check(shown.ns < was, 'the wheel does not zoom');
  check(Math.abs(NS(x) - before) < was / 1000, 'the wheel moves what is below it');
  const at = shown.at;
  point('pointerdown', x, 60);
  point('pointermove', x - 50, 60);
  point('pointerup', x - 50, 60);
  check(shown.at > at, 'dragging does not move');
  show(0, ALL);
  const [a, b] = [NS(left + 100), NS(left + 200)];
  point('pointerdown', left + 100, 60, { shiftKey: true });
  point('pointermove', left + 200, 60, { shiftKey: true });
  overlaps('while a range is selected');
  point('pointerup', left + 200, 60, { shiftKey: true });
  check(Math.abs(shown.at - a) < 1e-3 * D.span && Math.abs(shown.ns - (b - a)) < 1e-3 * D.span,
    'shift and dragging do not zoom to the range');

  // keys
  press('0');
  check(shown.ns === ALL, '0 does not show all');
  press('+');
  check(shown.ns < ALL, '+ does not zoom');
  press('n');
  check(chosen >= 0, 'n selects nothing');
  const old = chosen;
  press('n');
  check(chosen === old + 1, 'n does not go on');
  press('p');
  check(chosen === old, 'p does not go back');
  press('f');
  overlaps('one event');
  press('Escape');
  check(chosen < 0, 'Esc does not end the selection');
  press('/', document.body);
  check(document.activeElement === $('search'), '/ does not search');

  // the search, by a kernel's name
  const table = document.querySelector('table'), rows = [...table.tBodies[0].rows];
  const button = rows[0].querySelector('button');
  button.click();
  const kernels = D.k.filter(k => D.types[k] === 'k' + button.textContent).length;
  check($('search').value === button.textContent && found === kernels &&
    String(found) === rows[0].cells[1].dataset.v, 'the search finds another number of kernels');
  check(chosen >= 0 && wanted[chosen] === 1, 'the search selects nothing');
  overlaps('a search');
  const one = chosen;
  press('Enter', $('search'));
  check(chosen !== one && wanted[chosen] === 1, 'Enter does not find the next one');
  $('search').value = 'no such event';
  search();
  check(found === 0, 'a search for nothing finds something');
  press('Escape', $('search'));
  check(wanted === null, 'Esc does not end the search');

  // pointing at an event, and clicking it
  show(0, ALL);
  const i = D.d.findIndex((d, k) => d > 0 && kind(k) === 'k');
  choose(i, 2);
  draw();
  const h = hits.find(k => k.i === i && k.n === 1);
  choose(-1);
  point('pointermove', (h.x0 + h.x1) / 2, (h.y0 + h.y1) / 2);
  check($('tip') && $('tip').textContent.includes(name(i)), 'no text at the pointer');
  point('pointerdown', (h.x0 + h.x1) / 2, (h.y0 + h.y1) / 2);
  point('pointerup', (h.x0 + h.x1) / 2, (h.y0 + h.y1) / 2);
  check(chosen === i, 'a click does not select');
  const said = $('facts').textContent;
  check(['grid', 'block', 'shared bytes', 'source', 'duration'].every(k => said.includes(k)),
    'a fact is missing: ' + said);
  for (let k = 0; k < N; k += Math.ceil(N / 500)) facts(k);
  const mate = [...group.keys()].find(k => group.get(k) === group.get(i));
  check(!group.size || mate !== undefined || !group.has(i), 'a group of one');

  // a device whose lanes are folded
  show(0, ALL);
  const lanes = places.length;
  draw();
  const head = hits.find(k => k.process !== undefined);
  point('pointerdown', 10, head.y0 + 5);
  point('pointerup', 10, head.y0 + 5);
  check(places.length < lanes, 'a click on a process does not fold its lanes');
  overlaps('folded');
  folded.clear();
  arrange();
  $('scroll').scrollTop = 90;
  overlaps('scrolled');

  // the table sorts; its sums are those of the events
  const heads = table.tHead.rows[0].cells;
  heads[1].firstChild.click();
  const values = [...table.tBodies[0].rows].map(r => +r.cells[1].dataset.v);
  check(values.every((v, k) => !k || values[k - 1] >= v), 'the table is not sorted');
  const sums = new Map();
  D.k.forEach((k, n) => sums.set(D.types[k], (sums.get(D.types[k]) || 0) + Math.max(D.d[n], 0)));
  for (const r of rows)
    check(sums.get('k' + r.querySelector('button').textContent) === +r.cells[2].dataset.v,
      'another sum: ' + r.textContent);
  check(document.documentElement.scrollWidth <= innerWidth, 'the page is wider than the window');
} catch (e) {
  failed.push('an exception: ' + e.stack);
}
document.title = 'page: ' + passed + ' passed, ' + failed.length + ' failed';
document.body.replaceChildren(failed.join('; '));
