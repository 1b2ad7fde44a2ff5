// What the editor does by itself: words, indentation, documentation that goes on.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository, root } from './load.mjs';

const configuration = JSON.parse(readFileSync(join(root, 'language-configuration.json'), 'utf8'));
const { increaseIndentPattern, decreaseIndentPattern } = configuration.indentationRules;
const [more, less] = [new RegExp(increaseIndentPattern), new RegExp(decreaseIndentPattern)];

test('words', () => {
  const words = 'on two_words -> `a b`.c after 30s 1.5 {x}'.match(new RegExp(configuration.wordPattern, 'g'));
  assert.deepEqual(words, ['on', 'two_words', '`a b`', 'c', 'after', '30s', '1.5', 'x']);
});

test('lines after which the text goes in', () => {
  for (const line of ['state a {', '  ask b on turn else stay { // why', 'x = [', 'f(a,', '  prompt """', 'llm s { prompt """']) {
    assert.match(line, more, line);
  }
  for (const line of ['state a { }', '// {', '  """', '  prompt """one line"""', 'final done', '} -> x', 'advice "{x}"', '/// see {']) {
    assert.doesNotMatch(line, more, line);
  }
});

test('charts are indented as the editor would indent them', () => {
  let lines = 0;
  for (const name of readdirSync(join(repository, 'charts')).filter((it) => it.endsWith('.chart'))) {
    const text = readFileSync(join(repository, 'charts', name), 'utf8').split('\n');
    let inside = false;
    text.forEach((line, nth) => {
      const quotes = line.split('"""').length - 1;
      const next = text[nth + 1] ?? '';
      if (!inside && quotes === 0 && line.trim() !== '' && next.trim() !== '') {
        const depth = (it) => /^ */.exec(it)[0].length;
        const wanted = depth(line) + (more.test(line) ? 2 : 0) - (less.test(next) ? 2 : 0);
        assert.equal(depth(next), wanted, `${name}:${nth + 2}: ${next}`);
        lines += 1;
      }
      inside = quotes % 2 === 1 ? !inside : inside;
    });
  }
  assert.ok(lines > 1000);
});

test('documentation goes on in the next line, comments do not', () => {
  const [docs] = configuration.onEnterRules;
  assert.match('  /// A door.', new RegExp(docs.beforeText));
  assert.doesNotMatch('  // A door.', new RegExp(docs.beforeText));
});
