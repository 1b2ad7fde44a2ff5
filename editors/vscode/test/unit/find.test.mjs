// The program that is used: setting, environment, PATH, bundled, in this order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './load.mjs';

const { find, foundBy, whyNot } = await load('src/find.ts');

function around(programs, more = {}) {
  return {
    setting: '', environment: undefined, path: '/usr/bin:/usr/local/bin', home: '/home/ann', windows: false, extension: '/ext',
    isProgram: (path) => programs.includes(path), ...more,
  };
}

const everywhere = ['/set/chartc', '/env/chartc', '/usr/bin/chartc', '/usr/local/bin/chartc', '/ext/bin/chartc'];

test('the setting is first, then the environment, then the PATH, then the bundled one', () => {
  const all = { setting: '/set/chartc', environment: '/env/chartc' };
  assert.deepEqual(find(around(everywhere, all)), { kind: 'found', program: '/set/chartc', by: 'setting' });
  assert.deepEqual(find(around(everywhere, { environment: '/env/chartc' })), { kind: 'found', program: '/env/chartc', by: 'environment' });
  assert.deepEqual(find(around(everywhere)), { kind: 'found', program: '/usr/bin/chartc', by: 'path' });
  assert.deepEqual(find(around(everywhere.slice(3))), { kind: 'found', program: '/usr/local/bin/chartc', by: 'path' });
  assert.deepEqual(find(around(['/ext/bin/chartc'])), { kind: 'found', program: '/ext/bin/chartc', by: 'bundled' });
});

test('a program that is named and not there is an error, and no other one takes its place', () => {
  const wrong = find(around(everywhere.slice(1), { setting: '/set/chartc' }));
  assert.deepEqual(wrong, { kind: 'wrong', by: 'setting', named: '/set/chartc', tried: ['/set/chartc'] });
  assert.match(whyNot(wrong), /setting chartc\.path names "\/set\/chartc", which is no program/);
  const environment = find(around(everywhere.slice(2), { environment: '/env/chartc' }));
  assert.match(whyNot(environment), /environment variable CHARTC/);
});

test('the name of a command is looked for on the PATH, and ~ is the home folder', () => {
  assert.deepEqual(find(around(['/usr/local/bin/chartc-next'], { setting: 'chartc-next' })), { kind: 'found', program: '/usr/local/bin/chartc-next', by: 'setting' });
  assert.deepEqual(find(around(['/home/ann/bin/chartc'], { setting: '~/bin/chartc' })), { kind: 'found', program: '/home/ann/bin/chartc', by: 'setting' });
  assert.deepEqual(find(around(everywhere, { setting: '  ' })).by, 'path');
});

test('no folder that is opened chooses the program', () => {
  const relative = find(around(['./chartc', 'tools/chartc'], { setting: 'tools/chartc' }));
  assert.equal(relative.kind, 'wrong');
  assert.match(whyNot(relative), /relative path/);
  for (const path of ['', '.', 'bin:', ':', undefined]) {
    const found = find(around(['chartc', './chartc', '/chartc', 'bin/chartc'], { path }));
    assert.deepEqual(found, { kind: 'none', tried: ['/ext/bin/chartc'] }, `PATH=${path}`);
  }
});

test('nothing found says what helps', () => {
  const none = find(around([]));
  assert.deepEqual(none, { kind: 'none', tried: ['/usr/bin/chartc', '/usr/local/bin/chartc', '/ext/bin/chartc'] });
  assert.match(whyNot(none), /Install it, or name it in the setting chartc\.path/);
});

test('Windows', () => {
  const windows = { windows: true, path: 'C:\\tools;D:\\bin\\', extension: 'C:\\ext' };
  assert.deepEqual(find(around(['D:\\bin\\chartc.exe'], windows)), { kind: 'found', program: 'D:\\bin\\chartc.exe', by: 'path' });
  assert.deepEqual(find(around(['C:\\ext\\bin\\chartc.exe'], windows)), { kind: 'found', program: 'C:\\ext\\bin\\chartc.exe', by: 'bundled' });
  assert.deepEqual(find(around(['C:\\x\\chartc.exe'], { ...windows, setting: 'C:\\x\\chartc' })), { kind: 'found', program: 'C:\\x\\chartc.exe', by: 'setting' });
});

test('each way has its words', () => {
  assert.equal(new Set(['setting', 'environment', 'path', 'bundled'].map(foundBy)).size, 4);
});
