// Packs the extension and looks at what is in the package: `node package.mjs [FILE]`.
//
// `BIN=path` puts that chartc into it, for the platform that `TARGET` names, as `linux-x64`.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { files } from './zip.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, '../../target/vscode/chartc.vsix'));
const { BIN, TARGET } = process.env;

/** All that a package holds. The rest is no business of users. */
const expected = [
  'CHANGELOG.md', 'LICENSE.txt', 'README.md', 'dist/LICENSE-APACHE', 'dist/LICENSE-MIT', 'dist/extension.js', 'dist/licences.txt', 'dist/picture.css',
  'dist/picture.js', 'images/file.svg', 'images/icon.png', 'images/picture.png', 'language-configuration.json', 'package.json', 'schemas/agent.schema.json',
  'schemas/component.schema.json', 'schemas/run.schema.json', 'syntaxes/chart.tmLanguage.json', 'syntaxes/markdown.tmLanguage.json',
];
/** In bytes, without a program in it. */
const most = 1_500_000;

mkdirSync(dirname(target), { recursive: true });
rmSync(join(here, 'bin'), { recursive: true, force: true });
if (BIN) {
  mkdirSync(join(here, 'bin'));
  copyFileSync(BIN, join(here, 'bin', basename(BIN)));
}
try {
  const vsce = join(here, 'node_modules/@vscode/vsce/vsce');
  execFileSync(process.execPath, [vsce, 'package', '--no-dependencies', '--out', target, ...(TARGET ? ['--target', TARGET] : [])], { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
} finally {
  rmSync(join(here, 'bin'), { recursive: true, force: true });
}

// The packer writes some names in lower case.
const plain = (names) => names.map((name) => name.toLowerCase()).sort();
const found = files(readFileSync(target)).filter((name) => name.startsWith('extension/') && !name.endsWith('/')).map((name) => name.slice('extension/'.length));
const wanted = plain(BIN ? [...expected, `bin/${basename(BIN)}`] : expected);
const [more, less] = [plain(found).filter((name) => !wanted.includes(name)), wanted.filter((name) => !plain(found).includes(name))];
if (more.length > 0 || less.length > 0) {
  throw new Error(`the package holds too much: ${more.join(', ') || 'nothing'}; it lacks: ${less.join(', ') || 'nothing'}`);
}
const size = statSync(target).size;
if (!BIN && size > most) {
  throw new Error(`the package has ${size} bytes, more than ${most}`);
}
console.log(`${target}: ${found.length} files, ${(size / 1e6).toFixed(2)} MB`);
