// Loads a module of the extension that does not need an editor.
import { build } from 'esbuild';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const repository = join(root, '../..');

export async function load(path) {
  const { outputFiles } = await build({ absWorkingDir: root, entryPoints: [path], bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'error' });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}
