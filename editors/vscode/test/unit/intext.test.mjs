import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { endsInText } = await load('src/intext.ts');

test('where a text in quotes is open', () => {
  for (const open of ['prompt "Hello {', 'prompt """Hello {', 'prompt """\n  "quoted"\n  {', 'a "x" "y {', 'log "a \\" {', '// "\nlog "{', '`a"` log "{']) {
    assert.equal(endsInText(open), true, open);
  }
  for (const closed of ['', 'chart A {', 'log "x" {', 'prompt """x""" {', '// "x {', '/// """ {', 'log "never\nstate a {', '`a " b` {', 'log "a \\"" {', 'log ""']) {
    assert.equal(endsInText(closed), false, closed);
  }
});
