// Bundles the extension into dist/: `node build.mjs`, with `--production` without source maps, small.
import { build } from 'esbuild';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { licences } from './licences.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const production = process.argv.includes('--production');
const common = { bundle: true, absWorkingDir: here, minify: production, sourcemap: production ? false : 'linked', metafile: true, logLevel: 'warning', target: 'es2022', legalComments: 'none' };

rmSync(join(here, 'dist'), { recursive: true, force: true });
const bundles = await Promise.all([
  build({ ...common, entryPoints: ['src/extension.ts'], outfile: 'dist/extension.js', platform: 'node', format: 'cjs', external: ['vscode'] }),
  build({ ...common, entryPoints: ['src/picture/webview.ts'], outfile: 'dist/picture.js', platform: 'browser', format: 'iife' }),
]);
copyFileSync(join(here, 'src/picture/picture.css'), join(here, 'dist/picture.css'));
writeFileSync(join(here, 'dist/licences.txt'), licences(here, bundles.map(({ metafile }) => metafile)));
for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
  copyFileSync(join(here, '../..', name), join(here, 'dist', name));
}

// Schemas are written beside the documentation.
rmSync(join(here, 'schemas'), { recursive: true, force: true });
mkdirSync(join(here, 'schemas'));
for (const { url } of JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).contributes.yamlValidation) {
  const name = url.replace('./schemas/', '');
  const from = join(here, '../../docs', name);
  if (existsSync(from)) {
    copyFileSync(from, join(here, 'schemas', name));
  } else if (production) {
    throw new Error(`docs/${name} is missing: package.json promises its schema`);
  }
}
