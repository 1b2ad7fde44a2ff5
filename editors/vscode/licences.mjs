// The licences of what is bundled, as a text that is shipped beside it. A package without one that is known stops the build.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Packages that bring no text of their licence. */
const known = {
  '@viz-js/viz': `Viz.js, Copyright (c) Michael Daines, is under the MIT licence. It contains
Graphviz (https://graphviz.org) under the Eclipse Public License 2.0, whose text is at https://www.eclipse.org/legal/epl-2.0/ and whose source is at
https://gitlab.com/graphviz/graphviz, and
Expat (https://libexpat.github.io), Copyright (c) 1998-2000 Thai Open Source Software Center Ltd and Clark Cooper,
Copyright (c) 2001-2025 Expat maintainers, under the MIT licence.`,
};
const accepted = new Set(['MIT', 'ISC', 'BlueOak-1.0.0']);

export function licences(here, metafiles) {
  const packages = new Set();
  for (const file of metafiles.flatMap(({ inputs }) => Object.keys(inputs))) {
    const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found !== null) {
      packages.add(found[0]);
    }
  }
  const parts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
    if (!accepted.has(license)) {
      throw new Error(`${name} is under ${license}, which nobody has accepted yet`);
    }
    const file = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'License.txt', 'license.txt'].map((it) => join(here, folder, it)).find(existsSync);
    const text = known[name] ?? (file && readFileSync(file, 'utf8').trim());
    if (text === undefined) {
      throw new Error(`${name} brings no text of its licence`);
    }
    return `${name} ${version} (${license})\n\n${text}\n`;
  });
  return `This extension contains the following packages.\n\n${parts.join(`\n${'-'.repeat(72)}\n\n`)}`;
}
