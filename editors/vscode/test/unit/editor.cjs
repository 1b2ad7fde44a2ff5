// A stand-in for the module `vscode`: what the entry of the desktop needs to start and to stop a server. Anything else answers with itself.
const { readFileSync } = require('node:fs');

/** Classes that the client of the protocol extends. */
const extended = new Set([
  'CallHierarchyItem', 'CancellationError', 'CodeAction', 'CodeLens', 'CompletionItem', 'Diagnostic', 'DocumentLink', 'InlayHint', 'SymbolInformation',
  'TypeHierarchyItem',
]);

/** `said` gets what a person would see, `own` replaces parts by their dotted names. */
module.exports = function editor(said, own = {}) {
  const listen = () => ({ dispose() {} });
  class EventEmitter {
    listeners = [];
    event = (listener) => {
      this.listeners.push(listener);
      return { dispose() {} };
    };
    fire(value) {
      this.listeners.forEach((listener) => listener(value));
    }
    dispose() {}
  }
  class Disposable {
    constructor(act) {
      this.dispose = act;
    }
    static from(...all) {
      return new Disposable(() => all.forEach((it) => it.dispose()));
    }
  }
  const channel = { name: 'chartc', logLevel: 1, onDidChangeLogLevel: listen, appendLine() {}, append() {}, replace() {}, clear() {}, show() {}, hide() {}, dispose() {} };
  for (const level of ['trace', 'debug', 'info', 'warn', 'error']) {
    channel[level] = (...words) => said.push(`${level}: ${words.join(' ')}`);
  }
  const shown = (kind) => async (words) => void said.push(`${kind}: ${words}`);
  const parts = {
    EventEmitter, Disposable, version: '1.91.0',
    'window.createOutputChannel': () => channel,
    'window.createStatusBarItem': () => (editor.status = { show() {}, hide() {}, dispose() {} }),
    'window.showErrorMessage': shown('shown error'), 'window.showWarningMessage': shown('shown warning'),
    'window.activeTextEditor': undefined, 'window.visibleTextEditors': [],
    'workspace.isTrusted': true, 'workspace.textDocuments': [], 'workspace.notebookDocuments': [], 'workspace.workspaceFolders': [],
    'workspace.findFiles': async () => [],
    'workspace.getConfiguration': () => ({ get: (_, other) => other, has: () => false, inspect: () => undefined }),
    'env.language': 'en', 'env.appName': 'test',
    ...own,
  };
  const deep = (name) => new Proxy(function () {}, {
    get: (_, key) => {
      const whole = `${name}.${String(key)}`;
      if (typeof key === 'symbol' || key === 'then') {
        return undefined;
      }
      return whole in parts ? parts[whole] : /^on(Did|Will)/.test(key) ? listen : deep(whole);
    },
    apply: () => deep(`${name}()`),
    construct: () => deep(`new ${name}`),
  });
  // All that is exported, as bundles copy it name by name.
  const types = readFileSync(require.resolve('@types/vscode/index.d.ts'), 'utf8');
  const names = new Set([...types.matchAll(/^\s*export (?:abstract )?(?:class|enum|namespace|const) (\w+)/gm)].map((found) => found[1]));
  const vscode = {};
  for (const name of names) {
    vscode[name] = name in parts ? parts[name] : extended.has(name) ? class {} : deep(name);
  }
  vscode.Uri = { parse: (text) => ({ toString: () => text, scheme: 'file', path: text, fsPath: text }), file: (path) => ({ fsPath: path, toString: () => `file://${path}` }), joinPath: (uri) => uri };
  return vscode;
};
