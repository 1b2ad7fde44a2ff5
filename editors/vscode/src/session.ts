// The server while the window is open: started once the workspace is trusted, shown in the status bar, and told of settings.

import * as vscode from 'vscode';
import { CloseAction, ErrorAction, LSPErrorCodes, ResponseError, State, Trace, type BaseLanguageClient, type ClientCapabilities, type ErrorHandler, type LanguageClientOptions, type TextDocumentFilter } from 'vscode-languageclient';
import { endsInText } from './intext';
import { pictureChanged } from './protocol';
import { lexical, without } from './tokens';
import { mismatch, versionIn } from './version';

/** A server that can be talked to. */
export interface Server {
  /** What it is and who has named it, for people. */
  what: string;
  version: string | undefined;
  client(options: LanguageClientOptions): BaseLanguageClient;
}

/** How a server is come by: the one thing in which the desktop and the browser differ. */
export type Locate = () => Promise<Server | { none: string }>;

const selector: TextDocumentFilter[] = [
  { scheme: 'file', language: 'chart' },
  { scheme: 'untitled', language: 'chart' },
  { scheme: 'file', pattern: '**/{agent,*.agent}.{yaml,yml}' },
  { scheme: 'file', pattern: '**/*.scxml' },
];

export class Session implements vscode.Disposable {
  client: BaseLanguageClient | undefined;
  private why = 'chartc is being started.';
  private readonly started = new vscode.EventEmitter<void>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onStarted = this.started.event;
  readonly onPictureChanged = this.changed.event;
  readonly log = vscode.window.createOutputChannel('chartc', { log: true });
  private readonly status = vscode.window.createStatusBarItem('chartc.status', vscode.StatusBarAlignment.Right, 90);
  private readonly selector: TextDocumentFilter[];
  private readonly own: vscode.Disposable[] = [this.started, this.changed, this.log, this.status];
  /** Starts and stops one after the other. */
  private queue: Promise<void> = Promise.resolve();

  constructor(readonly context: vscode.ExtensionContext, private readonly locate: Locate, also: TextDocumentFilter[] = []) {
    this.selector = [...selector, ...also];
    this.status.name = 'chartc';
    this.status.command = 'chartc.showLog';
    this.own.push(
      vscode.window.onDidChangeActiveTextEditor(() => this.showStatus()),
      // Also told when a text gets another language.
      vscode.workspace.onDidOpenTextDocument(() => this.showStatus()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.restart()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('chartc.path')) {
          void this.restart();
        } else if (event.affectsConfiguration('chartc.trace.server')) {
          this.trace();
        }
      }),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.own).dispose();
  }

  /** Whether the server is asked about a document. */
  isOurs(document: vscode.TextDocument): boolean {
    return vscode.languages.match(this.selector as vscode.DocumentFilter[], document) > 0;
  }

  /** A document that the server names. */
  uri(text: string): vscode.Uri {
    return this.client?.protocol2CodeConverter.asUri(text) ?? vscode.Uri.parse(text);
  }

  /** Why there is no server, for people. */
  whyNone(): string {
    return this.why;
  }

  restart(): Promise<void> {
    this.queue = this.queue.then(async () => {
      await this.halt();
      await this.start();
    });
    return this.queue;
  }

  stop(): Promise<void> {
    this.queue = this.queue.then(() => this.halt());
    return this.queue;
  }

  private async halt(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.log.warn(`The server did not stop in an orderly way: ${message(error)}`);
    }
  }

  private async start(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      this.fail('This workspace is not trusted, so chartc is not started: colours only.', false);
      return;
    }
    const server = await this.locate();
    if ('none' in server) {
      this.fail(server.none, true);
      return;
    }
    this.log.info(`${server.what}, version ${server.version ?? 'unknown'}`);
    let usual: ErrorHandler | undefined;
    const client: BaseLanguageClient = server.client({
      // One that never served is not started again and again; one that did is.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (error, told, count) => usual?.error(error, told, count) ?? { action: ErrorAction.Shutdown, handled: true },
        closed: () => usual?.closed() ?? { action: CloseAction.DoNotRestart, handled: true },
      },
      documentSelector: this.selector,
      outputChannel: this.log,
      initializationOptions: settings(),
      synchronize: { configurationSection: 'chartc' },
      middleware: {
        // A brace opens a placeholder or a block. Behind that of a block comes the end of the line, which would take the first thing offered.
        provideCompletionItem: (document, position, context, token, next) => {
          const text = () => document.getText(new vscode.Range(new vscode.Position(0, 0), position));
          const isBlock = document.languageId === 'chart' && context.triggerCharacter === '{' && !endsInText(text());
          return isBlock ? [] : next(document, position, context, token);
        },
        provideDocumentSemanticTokens: async (document, token, next) => this.names(document, await next(document, token)),
        provideDocumentRangeSemanticTokens: async (document, range, token, next) => this.names(document, await next(document, range, token)),
      },
    });
    // It tells of pictures only to those who can draw them.
    client.registerFeature({
      fillClientCapabilities: (capabilities: ClientCapabilities) => {
        capabilities.experimental = { ...(capabilities.experimental as object | undefined), chartcPictures: true };
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    client.onNotification(pictureChanged, ({ uri }) => this.changed.fire(client.protocol2CodeConverter.asUri(uri)));
    client.onDidChangeState(({ newState }) => {
      if (client === this.client && newState === State.Stopped) {
        this.why = 'chartc has stopped. See its log; the command "chartc: Restart Server" starts it again.';
        this.showStatus('error');
      } else if (client === this.client && newState === State.Running) {
        this.showStatus('running');
        this.started.fire();
      }
    });
    try {
      await client.start();
    } catch (error) {
      this.fail(`${server.what} does not serve editors: ${message(error)}. Is it older than the extension?`, true);
      return;
    }
    usual = client.createDefaultErrorHandler();
    this.client = client;
    this.trace();
    const version = versionIn(client.initializeResult?.serverInfo?.version ?? '') ?? server.version;
    this.status.text = `$(type-hierarchy) chartc ${version ?? ''}`.trim();
    this.status.tooltip = `${server.what}\nVersion ${version ?? 'unknown'}`;
    this.showStatus('running');
    this.tellMismatch(version);
    this.started.fire();
  }

  /** Of a chart the tokens of names only; agents and SCXML documents have grammars that know nothing of charts. */
  private names(document: vscode.TextDocument, tokens: vscode.SemanticTokens | null | undefined): vscode.SemanticTokens | null | undefined {
    const legend = this.client?.initializeResult?.capabilities.semanticTokensProvider?.legend;
    if (tokens == null || legend === undefined || document.languageId !== 'chart') {
      return tokens;
    }
    const kinds = new Set(legend.tokenTypes.flatMap((kind, nth) => (lexical.has(kind) ? [nth] : [])));
    return new vscode.SemanticTokens(without(tokens.data, kinds), tokens.resultId);
  }

  private trace(): void {
    const level = vscode.workspace.getConfiguration('chartc').get<string>('trace.server', 'off');
    void this.client?.setTrace(Trace.fromString(level));
  }

  /** Told once for each pair of versions. */
  private tellMismatch(version: string | undefined): void {
    const ours = (this.context.extension.packageJSON as { version: string }).version;
    const words = version === undefined ? undefined : mismatch(ours, version);
    const key = `told ${ours} ${version}`;
    if (words !== undefined) {
      this.log.warn(words);
      if (this.context.globalState.get(key) !== true) {
        void this.context.globalState.update(key, true);
        void vscode.window.showWarningMessage(words);
      }
    }
  }

  private fail(why: string, tell: boolean): void {
    this.why = why;
    this.status.text = '$(type-hierarchy) chartc';
    this.status.tooltip = why;
    this.showStatus(tell ? 'error' : 'running');
    if (!tell) {
      this.log.info(why);
      return;
    }
    this.log.error(why);
    void vscode.window.showErrorMessage(why, 'Open Settings', 'Show Log').then((chosen) => {
      if (chosen === 'Open Settings') {
        void vscode.commands.executeCommand('workbench.action.openSettings', 'chartc.path');
      } else if (chosen === 'Show Log') {
        this.log.show();
      }
    });
  }

  private showStatus(state?: 'running' | 'error'): void {
    if (state !== undefined) {
      this.status.backgroundColor = state === 'error' ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (document !== undefined && this.isOurs(document)) {
      this.status.show();
    } else {
      this.status.hide();
    }
  }
}

/** Whether a request came to nothing because the text has changed since: who asks again gets an answer. */
export function isPassing(error: unknown): boolean {
  const passing: number[] = [LSPErrorCodes.ContentModified, LSPErrorCodes.RequestCancelled, LSPErrorCodes.ServerCancelled];
  return error instanceof ResponseError && passing.includes(error.code);
}

/** What the server is told of the settings, in the shape of the section `chartc`. */
function settings(): Record<string, unknown> {
  const all = vscode.workspace.getConfiguration('chartc');
  return { inlayHints: all.get('inlayHints'), check: all.get('check') };
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
