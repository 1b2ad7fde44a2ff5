// The entry of the desktop, with a stand-in for the editor and the real server.
import assert from 'node:assert/strict';
import { build } from 'esbuild';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { repository, root } from './load.mjs';

const require = createRequire(import.meta.url);
const editor = require('./editor.cjs');
const chartc = process.env.CHARTC ?? join(repository, 'target/debug/chartc');
const folder = mkdtempSync(join(tmpdir(), 'chartc-desktop-'));
after(() => rmSync(folder, { recursive: true }));
const bundle = join(folder, 'extension.cjs');
await build({ absWorkingDir: root, entryPoints: ['src/extension.ts'], outfile: bundle, bundle: true, platform: 'node', format: 'cjs', external: ['vscode'], logLevel: 'error' });

/** Starts the extension and stops it again. */
async function run(program, { version = '0.1.0', told = new Map(), ...own } = {}) {
  const said = [];
  const vscode = editor(said, own);
  const load = Module._load;
  Module._load = (name, ...more) => (name === 'vscode' ? vscode : load(name, ...more));
  delete require.cache[bundle];
  const before = process.env.CHARTC;
  process.env.CHARTC = program;
  try {
    const { activate, deactivate } = require(bundle);
    const globalState = { get: (key) => told.get(key), update: async (key, value) => void told.set(key, value) };
    await activate({ subscriptions: [], extensionPath: folder, extensionUri: {}, extension: { packageJSON: { version } }, globalState });
    const status = `${editor.status.text} ${editor.status.tooltip}`;
    await deactivate();
    return { said: said.filter((words) => words !== 'info: Server process exited successfully'), status };
  } finally {
    Module._load = load;
    if (before === undefined) {
      delete process.env.CHARTC;
    } else {
      process.env.CHARTC = before;
    }
  }
}

const hasServer = existsSync(chartc) ? false : `not found: ${chartc}`;

test('the server is started and stopped; the log and the status bar say which', { skip: hasServer }, async () => {
  const { said, status } = await run(chartc);
  assert.deepEqual(said.filter((words) => !words.startsWith('debug')), [`info: ${chartc}, named by the environment variable CHARTC, version 0.1.0`]);
  assert.match(status, /chartc 0\.1\.0 .*named by the environment variable CHARTC\nVersion 0\.1\.0$/s);
});

test('another version is told once', { skip: hasServer }, async () => {
  const told = new Map();
  const seen = async (version) => (await run(chartc, { version, told })).said.filter((words) => words.startsWith('shown'));
  assert.match((await seen('0.7.0')).join(), /shown warning: The extension is version 0\.7\.0, chartc is version 0\.1\.0/);
  assert.deepEqual(await seen('0.7.0'), []);
  assert.equal((await seen('0.8.0')).length, 1);
});

test('a program that is not there, or serves nobody, is one message', { skip: process.platform === 'win32' }, async () => {
  const missing = await run(join(folder, 'gone'));
  assert.equal(missing.said.filter((words) => words.startsWith('shown error: The environment variable CHARTC names')).length, 1);
  assert.match(missing.status, /Correct or clear it/);

  const old = join(folder, 'chartc');
  writeFileSync(old, '#!/bin/sh\necho chartc 0.1.0\nexit 2\n');
  chmodSync(old, 0o755);
  const { said } = await run(old);
  assert.equal(said.filter((words) => /^shown error: .*does not serve editors/.test(words)).length, 1);
  assert.deepEqual(said.filter((words) => /restarted|crashed 5 times/.test(words) && words.startsWith('shown')), []);
});

test('nothing is started in a workspace that is not trusted', async () => {
  const { said, status } = await run(join(folder, 'gone'), { 'workspace.isTrusted': false });
  assert.deepEqual(said, ['info: This workspace is not trusted, so chartc is not started: colours only.']);
  assert.match(status, /not trusted/);
});
