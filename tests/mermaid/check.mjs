// node check.mjs FOLDER < charts.json
// Reads [{"name", "text"}], prints a JSON object a line: what Mermaid's parser makes of each text. FOLDER holds node_modules.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2]);
const { JSDOM } = createRequire(pathToFileURL(`${folder}/`))('jsdom');
const { window } = new JSDOM('<!DOCTYPE html>');
Object.assign(globalThis, { window, document: window.document });
const core = pathToFileURL(`${folder}/node_modules/mermaid/dist/mermaid.core.mjs`);
const mermaid = (await import(core)).default;
mermaid.initialize({ securityLevel: 'strict', maxTextSize: 10_000_000, logLevel: 'fatal' });

// Mermaid writes entities so while it parses; a browser shows the character.
const named = { quot: '"', lt: '<', gt: '>', amp: '&' };
const shown = (text) =>
  [text].flat().join('\n').replace(/ﬂ°(°?)(\w+)¶ß/g, (_, is, what) => (is ? String.fromCodePoint(+what) : named[what]));

for (const { name, text } of JSON.parse(readFileSync(0, 'utf8'))) {
  let line;
  try {
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
    if (!db.getData) {
      console.log(JSON.stringify({ name, messages: db.getMessages().length }));
      continue;
    }
    const data = db.getData();
    const nodes = data.nodes.map((n) => ({
      id: n.id, shape: n.shape, inside: n.parentId ?? '', looks: n.cssClasses, label: shown(n.label), rows: [n.description ?? []].flat().map(shown),
    }));
    const edges = data.edges.map((e) => ({ from: e.start, to: e.end, label: shown(e.label ?? '') }));
    line = { name, description: shown(db.getAccDescription()), nodes, edges };
  } catch (fault) {
    line = { name, error: String(fault.message ?? fault) };
  }
  console.log(JSON.stringify(line));
}
