// Lays the extension out for a browser: the same files, with the entry for tests in place of the desktop's.
import { build } from 'esbuild';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export async function bundle(root, into) {
  rmSync(into, { recursive: true, force: true });
  await build({
    absWorkingDir: root, entryPoints: ['test/browser/entry.ts'], outfile: join(into, 'dist/browser.js'),
    bundle: true, platform: 'browser', format: 'cjs', external: ['vscode'], target: 'es2022', logLevel: 'warning',
  });
  for (const part of ['images', 'syntaxes', 'schemas', 'language-configuration.json', 'dist/picture.js', 'dist/picture.css']) {
    if (existsSync(join(root, part))) {
      cpSync(join(root, part), join(into, part), { recursive: true });
    }
  }
  const { main, extensionKind, devDependencies, scripts, ...manifest } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.browser = './dist/browser.js';
  manifest.activationEvents.push('onFileSystem:disk');
  manifest.capabilities.virtualWorkspaces = true;
  writeFileSync(join(into, 'package.json'), JSON.stringify(manifest, null, 2));
}
