import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load, repository, root } from './load.mjs';

const { mismatch, versionIn } = await load('src/version.ts');

test('the version in what a program says', () => {
  for (const [text, version] of [['chartc 0.1.0\n', '0.1.0'], ['0.2.3', '0.2.3'], ['chartc 1.0.0-rc.1 (abc)', '1.0.0-rc.1'], ['chartc', undefined], ['', undefined], ['chartc 10.20', undefined]]) {
    assert.equal(versionIn(text), version, text);
  }
});

test('only another minor version is told', () => {
  assert.equal(mismatch('0.1.0', '0.1.9'), undefined);
  assert.match(mismatch('0.1.0', '0.2.0'), /extension is version 0\.1\.0, chartc is version 0\.2\.0/);
  assert.match(mismatch('1.1.0', '0.1.0'), /install the same version/);
});

test('the extension has the version of the workspace', () => {
  const workspace = /^version = "(.*)"$/m.exec(readFileSync(join(repository, 'Cargo.toml'), 'utf8'))[1];
  assert.equal(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version, workspace);
});
