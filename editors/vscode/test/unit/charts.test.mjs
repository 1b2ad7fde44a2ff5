// The charts of the repository and of its documentation, coloured. `UPDATE=1 npm run test:unit` writes the snapshots again.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository, root } from './load.mjs';

const require = createRequire(import.meta.url);
const { INITIAL, parseRawGrammar, Registry } = require('vscode-textmate');
const oniguruma = require('vscode-oniguruma');

await oniguruma.loadWASM(readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer);
const file = join(root, 'syntaxes/chart.tmLanguage.json');
const registry = new Registry({
  onigLib: Promise.resolve({ createOnigScanner: (all) => new oniguruma.OnigScanner(all), createOnigString: (text) => new oniguruma.OnigString(text) }),
  loadGrammar: async () => parseRawGrammar(readFileSync(file, 'utf8'), file),
});
const grammar = await registry.loadGrammar('source.chart');

/** Each line as its words with their innermost scopes; how deep the last line ends. */
function colours(text) {
  let stack = INITIAL;
  const lines = text.split('\n').map((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    return tokens.flatMap(({ startIndex, endIndex, scopes }) => {
      const [word, scope] = [line.slice(startIndex, endIndex).trim(), scopes.at(-1)];
      return word === '' ? [] : [{ word, scope }];
    });
  });
  return { lines, depth: stack.depth };
}

const charts = readdirSync(join(repository, 'charts')).filter((name) => name.endsWith('.chart'));
const blocks = readdirSync(join(repository, 'docs')).filter((name) => name.endsWith('.md')).flatMap((name) => {
  const text = readFileSync(join(repository, 'docs', name), 'utf8');
  return [...text.matchAll(/^```chart\n([^]*?)^```$/gm)].map((found, nth) => ({ name: `docs/${name}, example ${nth + 1}`, text: found[1] }));
});
const all = [...charts.map((name) => ({ name, text: readFileSync(join(repository, 'charts', name), 'utf8') })), ...blocks];

test('every word of every chart has a scope of its own, none is wrong, and every brace is closed', () => {
  assert.ok(charts.length > 20 && blocks.length > 20);
  for (const { name, text } of all) {
    // What follows a file belongs to no part of it, so a chart behind it is coloured as one.
    const { lines } = colours(`${text}\nchart After { }`);
    assert.deepEqual(lines.at(-1)[0], { word: 'chart', scope: 'storage.type.chart' }, `${name}: something is still open at its end`);
    for (const { word, scope } of lines.flat()) {
      assert.doesNotMatch(scope, /^(source|meta|invalid)\./, `${name}: ${word}`);
    }
  }
});

test('a text or a placeholder that is broken off spoils nothing behind its line', () => {
  for (const broken of ['state a { on e -> f("x {y', 'may x "never', 'llm s { prompt "a {b(" }', 'log "{[1, \\"', 'state b { x = "{{a}']) {
    const { lines } = colours(`chart A {\n  ${broken}\n  ) state next { }\n`);
    assert.ok(lines[2].some(({ word, scope }) => word === 'state' && scope === 'storage.type.chart'), broken);
  }
  const { lines } = colours('chart A { state a { advice """x {y(\nz" {1 {\n""" } }\nchart B { }');
  assert.deepEqual(lines[3][0], { word: 'chart', scope: 'storage.type.chart' });
});

const snapshots = join(root, 'test/grammar/snapshots');
for (const name of charts.filter((it) => !it.endsWith('.test.chart') || it === 'phases.test.chart')) {
  test(`colours of ${name}`, () => {
    const { lines } = colours(readFileSync(join(repository, 'charts', name), 'utf8'));
    const shown = `${lines.map((line) => line.map(({ word, scope }) => `${word} ‹${scope.replace(/\.chart$/, '')}›`).join(' ')).join('\n')}\n`;
    const path = join(snapshots, `${name}.snap`);
    if (process.env.UPDATE) {
      mkdirSync(snapshots, { recursive: true });
      writeFileSync(path, shown);
    }
    assert.equal(readFileSync(path, 'utf8'), shown, `if this is meant: UPDATE=1 npm run test:unit`);
  });
}
