// The words of the TextMate grammar are those of the compiler's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import * as words from '../../grammar/words.mjs';
import { repository, root } from './load.mjs';

const read = (path) => readFileSync(join(repository, path), 'utf8');
const sorted = (all) => [...new Set(all)].sort();
/** The words in a table of the compiler. */
function table(path, begin, word) {
  const text = read(path);
  const from = text.indexOf(begin);
  assert.ok(from >= 0, `${path} has no ${begin}`);
  return [...text.slice(from, text.indexOf('];', from)).matchAll(word)].map((found) => found[1]);
}

const pest = ['chart', 'expression'].map((name) => read(`grammar/${name}.pest`)).join('\n').replace(/^\s*\/\/.*$/gm, '');
/** The alternatives of a rule. */
const rule = (name) => [...new RegExp(`^${name} = _\\{([^}]*)\\}`, 'm').exec(pest)[1].matchAll(/"(\w+)"/g)].map((found) => found[1]);
const units = ['ms', 's', 'm', 'h', 'd', 'e', 'E'];
const inPest = sorted([...pest.matchAll(/"([A-Za-z_]+)"/g)].map((found) => found[1]).filter((word) => !units.includes(word)));
const functions = table('src/compiler/lower/expr/calls.rs', 'const MACHINE:', /"(\w+)"/g);
const limits = table('src/compiler/lower/transitions.rs', 'const WARNINGS:', /"(\w+)"/g);

/** The words that regular expressions of the grammar match as such. */
function wordsOf(grammar) {
  const found = new Set();
  const visit = (value, key) => {
    if (typeof value === 'string') {
      if (['match', 'begin', 'end'].includes(key)) {
        const bare = value.replace(/\\./g, ' ').replace(/\[[^\]]*\]/g, ' ').replace(/\(\?(?:[:=!]|<[=!])/g, '(');
        for (const [word] of bare.matchAll(/[A-Za-z_]+/g)) {
          found.add(word);
        }
      }
    } else if (typeof value === 'object' && value !== null) {
      Object.entries(value).forEach(([name, inner]) => visit(inner, name));
    }
  };
  visit(grammar, '');
  return found;
}

test('reserved words', () => {
  assert.deepEqual(sorted(words.reserved), sorted(table('runtime/core/src/model/expr.rs', 'pub const RESERVED', /"(\w+)"/g)));
  assert.deepEqual(sorted(words.reserved), sorted(rule('reserved')));
});

test('first words of each place', () => {
  assert.deepEqual(sorted(words.top), sorted(rule('top_word')));
  assert.deepEqual(sorted(words.items), sorted(rule('item_word')));
  assert.deepEqual(sorted(words.steps), sorted(rule('step_word')));
  assert.deepEqual(sorted(words.tests), sorted(rule('test_word')));
});

test('types and what the run knows', () => {
  assert.deepEqual(sorted(words.types), sorted([...table('src/compiler/lower/declare.rs', 'static PLAIN:', /\("(\w+)"/g), 'List', 'Map']));
  // `{options}` is known in the prompts of `ask` steps only.
  assert.deepEqual(sorted(words.observables), sorted([...table('src/compiler/lower/expr/mod.rs', 'static OBSERVABLES:', /\("(\w+)"/g), 'options']));
});

test('the grammar has every word of the language, and no other', () => {
  const grammar = JSON.parse(readFileSync(join(root, 'syntaxes/chart.tmLanguage.json'), 'utf8'));
  // `parent`, to which events are sent; the units of checks.
  const also = [...words.types, ...words.observables, ...functions, ...limits, 'parent', 'call'];
  const inGrammar = [...wordsOf(grammar)].filter((word) => !units.includes(word) && word !== 'u');
  assert.deepEqual(sorted(inGrammar), sorted([...inPest, ...also]));
});

test('the committed grammar is what the program writes', () => {
  execFileSync(process.execPath, [join(root, 'grammar/build.mjs'), '--check']);
});
