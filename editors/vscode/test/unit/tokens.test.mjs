import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load, root } from './load.mjs';

const { lexical, without } = await load('src/tokens.ts');

/** Places instead of distances: line, character, length, kind, modifiers. */
function placed(data) {
  const all = [];
  let [line, character] = [0, 0];
  for (let at = 0; at < data.length; at += 5) {
    character = data[at] === 0 ? character + data[at + 1] : data[at + 1];
    line += data[at];
    all.push([line, character, ...data.slice(at + 2, at + 5)]);
  }
  return all;
}

test('what is left stays where it was', () => {
  let seed = 7;
  const random = (most) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  for (let round = 0; round < 200; round += 1) {
    const data = Array.from({ length: random(40) }, () => [random(3), random(20), 1 + random(9), random(4), random(8)]).flat();
    const kinds = new Set([random(4), random(4)]);
    const wanted = placed(data).filter(([, , , kind]) => !kinds.has(kind));
    assert.deepEqual(placed([...without(data, kinds)]), wanted);
  }
});

test('nothing, and all', () => {
  assert.deepEqual([...without([], new Set([1]))], []);
  assert.deepEqual([...without([1, 2, 3, 0, 0, 0, 5, 1, 0, 0], new Set([0]))], []);
  assert.deepEqual([...without([1, 2, 3, 0, 0], new Set())], [1, 2, 3, 0, 0]);
});

test('kinds that the grammar colours have no scopes of their own', () => {
  const [{ scopes }] = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).contributes.semanticTokenScopes;
  assert.deepEqual(Object.keys(scopes).filter((kind) => lexical.has(kind)), []);
});
