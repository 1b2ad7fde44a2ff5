// Tests of charts in the test explorer: found when a file is opened, checked or saved, run by the server.

import * as vscode from 'vscode';
import { runTestsRequest, testsRequest, type TestItem } from './protocol';
import { isPassing, type Session } from './session';

/** How many files of a workspace are asked about their tests. */
const mostFiles = 200;

export class Tests implements vscode.Disposable {
  private readonly controller = vscode.tests.createTestController('chartc', 'Charts');
  private readonly own: vscode.Disposable[] = [this.controller];
  /** Whether somebody has looked at the explorer. */
  private wanted = false;

  constructor(private readonly session: Session) {
    this.controller.createRunProfile('Run', vscode.TestRunProfileKind.Run, (request, token) => this.run(request, token), true);
    this.controller.resolveHandler = async (item) => {
      if (item === undefined) {
        this.wanted = true;
        await this.findAll();
      }
    };
    this.controller.refreshHandler = () => this.findAll();
    const ask = (document: vscode.TextDocument) => this.session.isOurs(document) && void this.find(document.uri);
    this.own.push(
      vscode.workspace.onDidOpenTextDocument(ask),
      vscode.workspace.onDidSaveTextDocument(ask),
      vscode.workspace.onDidDeleteFiles(({ files }) => files.forEach((uri) => this.controller.items.delete(uri.toString()))),
      session.onPictureChanged((uri) => void this.find(uri)),
      session.onStarted(() => {
        vscode.workspace.textDocuments.forEach(ask);
        if (this.wanted) {
          void this.findAll();
        }
      }),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.own).dispose();
  }

  /** Runs one test, as its code lens asks. */
  async runOne(uri: vscode.Uri, name: string): Promise<void> {
    await this.find(uri);
    const item = this.controller.items.get(uri.toString())?.children.get(name);
    await this.runItems(item === undefined ? [] : [item], `There is no test "${name}" in ${vscode.workspace.asRelativePath(uri)}.`);
  }

  /** Runs all tests of a chart: those of its file, and of the file of tests beside it. */
  async runChart(uri: vscode.Uri, chart: string): Promise<void> {
    const beside = uri.with({ path: uri.path.replace(/(\.chart|\.ya?ml|\.scxml)$/, '.test.chart') });
    const files = [uri];
    if (uri.scheme !== 'untitled' && !uri.path.endsWith('.test.chart') && (await exists(beside))) {
      files.push(beside);
    }
    const items: vscode.TestItem[] = [];
    for (const file of files) {
      await this.find(file);
      this.controller.items.get(file.toString())?.children.forEach((item) => item.description === chart && items.push(item));
    }
    await this.runItems(items, `There are no tests of ${chart}.`);
  }

  private async runItems(items: vscode.TestItem[], none: string): Promise<void> {
    if (items.length === 0) {
      void vscode.window.showWarningMessage(none);
      return;
    }
    const source = new vscode.CancellationTokenSource();
    try {
      await this.run(new vscode.TestRunRequest(items), source.token);
    } finally {
      source.dispose();
    }
  }

  private async findAll(): Promise<void> {
    for (const uri of await vscode.workspace.findFiles('**/*.chart', '**/{node_modules,target}/**', mostFiles)) {
      await this.find(uri);
    }
  }

  private async find(uri: vscode.Uri): Promise<void> {
    const client = this.session.client;
    if (client === undefined) {
      return;
    }
    let found: TestItem[];
    try {
      // The server knows open texts only. One that is open already is not read again.
      await vscode.workspace.openTextDocument(uri);
      found = (await client.sendRequest(testsRequest, { uri: client.code2ProtocolConverter.asUri(uri) })) ?? [];
    } catch (error) {
      if (isPassing(error)) {
        return;
      }
      this.session.log.warn(`The tests of ${uri.toString(true)} are unknown: ${String(error)}`);
      return;
    }
    const id = uri.toString();
    if (found.length === 0) {
      this.controller.items.delete(id);
      return;
    }
    let file = this.controller.items.get(id);
    if (file === undefined) {
      file = this.controller.createTestItem(id, vscode.workspace.asRelativePath(uri), uri);
      this.controller.items.add(file);
    }
    file.children.replace(
      found.map(({ name, chart, range }) => {
        const item = this.controller.createTestItem(name, name, uri);
        item.description = chart;
        item.range = client.protocol2CodeConverter.asRange(range);
        return item;
      }),
    );
  }

  private async run(request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
    const run = this.controller.createTestRun(request);
    try {
      for (const [file, items] of this.chosen(request)) {
        items.forEach((item) => run.enqueued(item));
        if (!token.isCancellationRequested) {
          await this.runFile(run, file, items, token);
        }
      }
    } finally {
      run.end();
    }
  }

  /** The tests that are asked for, file by file. */
  private chosen(request: vscode.TestRunRequest): Map<vscode.TestItem, vscode.TestItem[]> {
    const chosen = new Map<vscode.TestItem, vscode.TestItem[]>();
    const left = new Set(request.exclude ?? []);
    const add = (item: vscode.TestItem) => {
      if (left.has(item)) {
        return;
      }
      if (item.parent === undefined) {
        item.children.forEach(add);
      } else {
        chosen.set(item.parent, [...(chosen.get(item.parent) ?? []), item]);
      }
    };
    if (request.include === undefined) {
      this.controller.items.forEach(add);
    } else {
      request.include.forEach(add);
    }
    return chosen;
  }

  private async runFile(run: vscode.TestRun, file: vscode.TestItem, items: vscode.TestItem[], token: vscode.CancellationToken): Promise<void> {
    const client = this.session.client;
    const failed = (why: string) => items.forEach((item) => run.errored(item, new vscode.TestMessage(why)));
    if (client === undefined || file.uri === undefined) {
      failed(this.session.whyNone());
      return;
    }
    items.forEach((item) => run.started(item));
    try {
      await vscode.workspace.openTextDocument(file.uri);
      const uri = client.code2ProtocolConverter.asUri(file.uri);
      const results = (await client.sendRequest(runTestsRequest, { uri, names: items.map((item) => item.id) }, token)) ?? [];
      for (const item of items) {
        const result = results.find(({ name }) => name === item.id);
        if (result === undefined) {
          run.errored(item, new vscode.TestMessage('chartc did not play this test: see the problems of its file.'));
        } else if (result.passed) {
          run.passed(item, result.milliseconds);
          run.appendOutput(`ok      ${item.label}\r\n`, undefined, item);
        } else {
          const told = new vscode.TestMessage(result.message ?? 'failed');
          const range = result.range == null ? item.range : client.protocol2CodeConverter.asRange(result.range);
          told.location = range && new vscode.Location(file.uri, range);
          run.failed(item, told, result.milliseconds);
          run.appendOutput(`failed  ${item.label}\r\n${(result.message ?? '').replace(/^/gm, '        ').replace(/\n/g, '\r\n')}\r\n`, told.location, item);
        }
      }
    } catch (error) {
      if (token.isCancellationRequested) {
        items.forEach((item) => run.skipped(item));
      } else {
        failed(error instanceof Error ? error.message : String(error));
      }
    }
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
