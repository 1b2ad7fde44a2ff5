import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { load } from './load.mjs';

const { isProgram, versionOf } = await load('src/program.ts');
const folder = mkdtempSync(join(tmpdir(), 'chartc program ü-'));
after(() => rmSync(folder, { recursive: true }));
const script = (name, text, mode = 0o755) => {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, mode);
  return path;
};

test('a program is a file that may be started', { skip: process.platform === 'win32' }, () => {
  const program = script('chartc', 'echo chartc 0.1.0');
  mkdirSync(join(folder, 'folder'));
  symlinkSync(program, join(folder, 'link'));
  symlinkSync(join(folder, 'gone'), join(folder, 'dangling'));
  assert.ok(isProgram(program));
  assert.ok(isProgram(join(folder, 'link')));
  for (const other of [script('text', '', 0o644), join(folder, 'folder'), join(folder, 'dangling'), join(folder, 'missing'), '']) {
    assert.ok(!isProgram(other), other);
  }
});

test('its version, if it has one', { skip: process.platform === 'win32' }, async () => {
  assert.equal(await versionOf(script('good', 'test "$1" = --version && echo chartc 1.2.3')), '1.2.3');
  assert.equal(await versionOf(script('failing', 'echo chartc 1.2.3; exit 1')), undefined);
  assert.equal(await versionOf(script('mute', '')), undefined);
  assert.equal(await versionOf(join(folder, 'missing')), undefined);
});
