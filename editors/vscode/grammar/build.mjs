// Writes `syntaxes/chart.tmLanguage.json`; with `--check` it only says whether that file is what the program says.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { grammar } from './chart.mjs';

const file = fileURLToPath(new URL('../syntaxes/chart.tmLanguage.json', import.meta.url));
const text = `${JSON.stringify(grammar, null, 2)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('syntaxes/chart.tmLanguage.json is not what grammar/chart.mjs says: run `npm run grammar`');
  process.exit(1);
}
