// The extension in a browser, for tests only: a WebSocket stands in for standard input and output, HTTP for the disk.
//
// All else is what the desktop runs.

import * as vscode from 'vscode';
import { BrowserMessageReader, BrowserMessageWriter, LanguageClient } from 'vscode-languageclient/browser';
import { begin } from '../../src/commands';
import { Session, type Server } from '../../src/session';

/** The scheme of the workspace; the server sees files. */
const scheme = 'disk';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  // The extension is served from there, and so is the rest.
  const origin = new URL(context.extensionUri.toString(true)).origin;
  context.subscriptions.push(vscode.workspace.registerFileSystemProvider(scheme, new Disk(origin), { isCaseSensitive: true }));
  const session = new Session(context, () => locate(origin), [
    { scheme, language: 'chart' },
    { scheme, pattern: '**/{agent,*.agent}.{yaml,yml}' },
    { scheme, pattern: '**/*.scxml' },
  ]);
  await begin(session);
}

async function locate(origin: string): Promise<Server> {
  return {
    what: `${origin}, a bridge`,
    version: undefined,
    client: (options) =>
      new LanguageClient('chartc', 'chartc', () => connect(origin), {
        ...options,
        uriConverters: {
          code2Protocol: (uri) => (uri.scheme === scheme ? uri.with({ scheme: 'file' }).toString() : uri.toString()),
          protocol2Code: (text) => {
            const uri = vscode.Uri.parse(text);
            return uri.scheme === 'file' ? uri.with({ scheme }) : uri;
          },
        },
      }),
  };
}

/** A WebSocket that is taken for a worker: both carry one message at a time. */
function connect(origin: string): Promise<{ reader: BrowserMessageReader; writer: BrowserMessageWriter }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}/lsp`);
    const port = {
      onmessage: undefined as ((event: { data: unknown }) => void) | undefined,
      postMessage: (message: unknown) => socket.send(JSON.stringify(message)),
      addEventListener: () => undefined,
      terminate: () => socket.close(),
    };
    socket.addEventListener('message', ({ data }) => port.onmessage?.({ data: JSON.parse(String(data)) }));
    socket.addEventListener('error', () => reject(new Error('the bridge does not answer')));
    socket.addEventListener('open', () =>
      resolve({ reader: new BrowserMessageReader(port as unknown as Worker), writer: new BrowserMessageWriter(port as unknown as Worker) }),
    );
  });
}

/** The files of the test's workspace, through its web server. */
class Disk implements vscode.FileSystemProvider {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly origin: string) {}

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    return (await (await this.ask('stat', uri)).json()) as vscode.FileStat;
  }

  async readDirectory(uri: vscode.Uri): Promise<[string, vscode.FileType][]> {
    return (await (await this.ask('list', uri)).json()) as [string, vscode.FileType][];
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new Uint8Array(await (await this.ask('read', uri)).arrayBuffer());
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    await this.ask('write', uri, content);
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  private async ask(what: string, uri: vscode.Uri, body?: Uint8Array): Promise<Response> {
    const answer = await fetch(`${this.origin}/disk/${what}?path=${encodeURIComponent(uri.path)}`, body && { method: 'PUT', body: body as BodyInit });
    if (!answer.ok) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return answer;
  }
}
