// From the picture to the text, and the picture's colours in those of a theme.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load, repository } from './load.mjs';

const { endsOf, rangeOf, stateOf } = await load('src/picture/map.ts');
const { inHelvetica, width } = await load('src/picture/width.ts');
const { themed } = await load('src/picture/colour.ts');

const at = (line) => ({ start: { line, character: 0 }, end: { line, character: 4 } });
const states = [{ id: 's1', range: at(3) }, { id: 's2', range: at(7) }];

test('a state, an arrow, and an arrow of which only the ends are known', () => {
  const edges = [{ id: 'e5', range: at(9) }];
  assert.deepEqual(rangeOf(states, edges, { id: 's2' }), at(7));
  assert.deepEqual(rangeOf(states, edges, { id: 's2' }, { line: 7, character: 2 }), at(7));
  assert.deepEqual(rangeOf(states, edges, { id: 'e5', tail: 's1', head: 's2' }), at(9));
  assert.deepEqual(rangeOf(states, edges, { id: 'edge7', tail: 's2', head: 's1' }), at(7));
  assert.deepEqual(rangeOf(states, edges, { id: 'edge8', head: 's1' }), at(3));
  assert.equal(rangeOf(states, edges, { id: 'edge9' }), undefined);
});

test('lines that share an arrow are shown one after the other', () => {
  const edges = [{ id: 'e1', range: at(4) }, { id: 'e2', range: at(5) }, { id: 'e1', range: at(6) }];
  const shown = (line) => rangeOf(states, edges, { id: 'e1' }, { line, character: 1 });
  assert.deepEqual([shown(0), shown(4), shown(6), shown(5)], [at(4), at(6), at(4), at(4)]);
  assert.deepEqual(rangeOf(states, edges, { id: 'e1' }), at(4));
});

test('names of nodes and arrows', () => {
  assert.equal(stateOf('s3'), 's3');
  assert.equal(stateOf('cluster3'), 's3');
  for (const other of ['i0', 'any2', 'chart', '', 's', 'cluster', 'xs3']) {
    assert.equal(stateOf(other), undefined, other);
  }
  assert.deepEqual(endsOf('s3->s4'), { tail: 's3', head: 's4' });
  assert.deepEqual(endsOf('s3:e->s4:p1:w'), { tail: 's3', head: 's4' });
  assert.equal(endsOf('s3'), undefined);
});

test('every colour that chartc draws with has one of the theme', () => {
  const sources = readdirSync(join(repository, 'src/compiler/emit'), { recursive: true }).filter((name) => name.endsWith('.rs'));
  const colours = new Set(sources.flatMap((name) => readFileSync(join(repository, 'src/compiler/emit', name), 'utf8').match(/#[0-9a-f]{6}\b/gi) ?? []));
  assert.ok(colours.size > 15);
  for (const colour of [...colours, 'black', 'white']) {
    assert.match(themed(colour), /var\(--vscode-(charts|editor)-/, colour);
  }
});

test('greys follow the editor, hues the charts', () => {
  assert.equal(themed('#ffffff'), 'var(--vscode-editor-background)');
  assert.equal(themed('#1e293b'), 'var(--vscode-editor-foreground)');
  assert.match(themed('#475569'), /editor-foreground/);
  for (const [colour, name] of [['#15803d', 'green'], ['#7c3aed', 'purple'], ['#0369a1', 'blue'], ['#b91c1c', 'red'], ['#a16207', 'yellow']]) {
    assert.equal(themed(colour), `var(--vscode-charts-${name})`, colour);
  }
  for (const [colour, name] of [['#dcfce7', 'green'], ['#f0fdf4', 'green'], ['#ede9fe', 'purple'], ['#fee2e2', 'red'], ['#fef9c3', 'yellow']]) {
    assert.match(themed(colour), new RegExp(`^color-mix\\(in srgb, var\\(--vscode-charts-${name}\\) \\d+%, var\\(--vscode-editor-background\\)\\)$`), colour);
  }
  assert.equal(themed('url(#a)'), 'url(#a)');
});

test('widths of words are those that the layout has room for', async () => {
  const { instance } = await import('@viz-js/viz');
  const graphviz = await instance();
  for (const [text, isBold] of [['enter opened = opened + 1', false], ['withdrawn_by_customer', true], ['[kind == Kind.spam] ~{}', false], ['WMil.,;:\'', true]]) {
    const label = text.replace(/&/g, '&amp;').replace(/"/g, '&quot;');
    const html = isBold ? `<b>${label}</b>` : label;
    const layout = JSON.parse(graphviz.renderString(inHelvetica(`graph { node [fontname="Helvetica,Arial,sans-serif", fontsize=100, shape=plain, margin=0]; a [label=<${html}>] }`), { format: 'json' }));
    const told = layout.objects[0]._ldraw_.find(({ op }) => op === 'T').width / 100;
    assert.ok(Math.abs(told - width(text, isBold)) < 0.01 * told, `${text}: ${told}, not ${width(text, isBold)}`);
  }
});
