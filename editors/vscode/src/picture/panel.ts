// The panel with the picture of the chart that the cursor is in.

import * as vscode from 'vscode';
import type { BaseLanguageClient } from 'vscode-languageclient';
import { pictureRequest, type Picture } from '../protocol';
import { isPassing, type Session } from '../session';
import { rangeOf, type Clicked } from './map';
import type { FromPanel, ToPanel } from './messages';

export const panelType = 'chartc.picture';

/** The one panel. It follows the text that was looked at last. */
export class PicturePanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private uri: vscode.Uri | undefined;
  /** The chart that was chosen, of a file with several; else the cursor chooses. */
  private chosen: string | undefined;
  private picture: Picture | undefined;
  /** The text that the picture is of. */
  private drawn: string | undefined;
  private ready = false;
  private asked = 0;
  /** What is waited for before a cursor that moves fast is followed. */
  private soon: ReturnType<typeof setTimeout> | undefined;
  private readonly own: vscode.Disposable[] = [];

  constructor(private readonly session: Session) {
    this.own.push(
      vscode.window.onDidChangeTextEditorSelection((event) => this.moved(event.textEditor)),
      vscode.window.onDidChangeActiveTextEditor((editor) => editor !== undefined && this.moved(editor)),
      session.onPictureChanged((uri) => {
        if (uri.toString() === this.uri?.toString()) {
          void this.refresh();
        }
      }),
      session.onStarted(() => void this.refresh()),
    );
  }

  dispose(): void {
    clearTimeout(this.soon);
    this.panel?.dispose();
    vscode.Disposable.from(...this.own).dispose();
  }

  /** Opens the panel beside the text, on a chart or on that at the cursor. */
  show(uri: vscode.Uri, chart?: string): void {
    this.uri = uri;
    this.chosen = chart;
    if (this.panel === undefined) {
      this.panel = this.open();
    } else {
      this.panel.reveal(undefined, true);
    }
    void this.refresh();
  }

  private open(): vscode.WebviewPanel {
    const files = vscode.Uri.joinPath(this.session.context.extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel(
      panelType,
      'Picture',
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [files], retainContextWhenHidden: true },
    );
    panel.iconPath = vscode.Uri.joinPath(this.session.context.extensionUri, 'images', 'file.svg');
    panel.webview.onDidReceiveMessage((message: FromPanel) => this.heard(message));
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.picture = undefined;
      this.drawn = undefined;
      this.ready = false;
    });
    panel.webview.html = page(panel.webview, files);
    return panel;
  }

  private heard(message: FromPanel): void {
    switch (message.kind) {
      case 'ready':
        this.ready = true;
        void this.refresh();
        break;
      case 'chosen':
        this.chosen = message.chart;
        void this.refresh();
        break;
      case 'clicked':
        void this.reveal(message.clicked);
        break;
      case 'drawn':
        this.session.log.debug(`drew ${message.chart}: ${message.nodes} nodes`);
        break;
      case 'failed':
        this.session.log.error(message.why);
        break;
    }
  }

  private moved(editor: vscode.TextEditor): void {
    if (this.panel === undefined || !this.session.isOurs(editor.document)) {
      return;
    }
    clearTimeout(this.soon);
    this.soon = setTimeout(() => void this.follow(editor), 60);
  }

  /** Points out the state and the arrow at the cursor; the picture is drawn again only for another file or chart. */
  private async follow(editor: vscode.TextEditor): Promise<void> {
    const uri = editor.document.uri;
    if (uri.toString() !== this.uri?.toString()) {
      this.uri = uri;
      this.chosen = undefined;
      await this.refresh();
      return;
    }
    const mine = this.asked;
    const here = await this.here();
    if (mine !== this.asked || here === undefined) {
      return;
    }
    if (here.chart !== this.picture?.chart) {
      await this.refresh();
    } else {
      this.tell({ kind: 'at', ...(here.at != null && { id: here.at }), ...(here.edge != null && { edge: here.edge }) });
    }
  }

  /** The chart, the state and the arrow at the cursor. */
  private async here(): Promise<Picture | undefined> {
    const { uri } = this;
    const client = this.session.client;
    const editor = vscode.window.visibleTextEditors.find((it) => it.document.uri.toString() === uri?.toString());
    if (client === undefined || uri === undefined) {
      return undefined;
    }
    try {
      return (await this.ask(client, uri, this.chosen, editor?.selection.active)) ?? undefined;
    } catch {
      // While the text has errors nothing is at the cursor; `refresh` says so.
      return undefined;
    }
  }

  private ask(client: BaseLanguageClient, uri: vscode.Uri, chart?: string, position?: vscode.Position): Promise<Picture | null> {
    return client.sendRequest(pictureRequest, {
      uri: client.code2ProtocolConverter.asUri(uri),
      ...(chart !== undefined && { chart }),
      ...(position && { position: client.code2ProtocolConverter.asPosition(position) }),
    });
  }

  /** Asks for the picture of the text as it is now. */
  private async refresh(): Promise<void> {
    const { uri, panel } = this;
    if (uri === undefined || panel === undefined || !this.ready) {
      return;
    }
    this.asked += 1;
    const mine = this.asked;
    const client = this.session.client;
    if (client === undefined) {
      this.none(this.session.whyNone());
      return;
    }
    let picture: Picture | null = null;
    let why = 'the text has errors.';
    const here = await this.here();
    try {
      // Without a position: what is pointed out changes while the picture stays.
      picture = await this.ask(client, uri, this.chosen ?? here?.chart);
      if (picture === null && this.chosen !== undefined) {
        // Perhaps the chosen chart has another name by now.
        picture = await this.ask(client, uri);
      }
    } catch (error) {
      if (isPassing(error)) {
        // The text has changed meanwhile; the server tells when it has checked it.
        return;
      }
      why = error instanceof Error ? error.message : String(error);
    }
    if (mine !== this.asked || this.panel === undefined) {
      return;
    }
    if (picture === null) {
      this.none(why);
      return;
    }
    this.picture = picture;
    this.drawn = uri.toString();
    panel.title = `Picture: ${picture.chart}`;
    this.tell({
      kind: 'picture',
      chart: picture.chart,
      charts: picture.charts,
      dot: picture.dot,
      ...(here?.chart === picture.chart && here.at != null && { at: here.at }),
      ...(here?.chart === picture.chart && here.edge != null && { edge: here.edge }),
    });
  }

  private none(why: string): void {
    const keep = this.drawn === this.uri?.toString();
    if (!keep) {
      this.picture = undefined;
      this.drawn = undefined;
      if (this.panel !== undefined) {
        this.panel.title = 'Picture';
      }
    }
    this.tell({ kind: 'none', why, keep });
  }

  /** Shows the text of what was clicked on. */
  private async reveal(clicked: Clicked): Promise<void> {
    const { uri, picture } = this;
    const open = vscode.window.visibleTextEditors.find((it) => it.document.uri.toString() === uri?.toString());
    const range = picture && rangeOf(picture.states, picture.edges ?? [], clicked, open?.selection.active);
    if (uri === undefined || range === undefined) {
      return;
    }
    // The panel keeps the focus, so that one click can follow another.
    const editor = await vscode.window.showTextDocument(uri, { viewColumn: open?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: true });
    const start = new vscode.Position(range.start.line, range.start.character);
    editor.selection = new vscode.Selection(start, start);
    editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  private tell(message: ToPanel): void {
    void this.panel?.webview.postMessage(message);
  }
}

/** The page. It may run its own script and WebAssembly, and loads nothing from anywhere else. */
function page(webview: vscode.Webview, files: vscode.Uri): string {
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const at = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(files, name)).toString();
  return `<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}' 'wasm-unsafe-eval'">
  <link rel="stylesheet" href="${at('picture.css')}">
  <title>Picture</title>
</head>
<body>
  <div id="bar" role="toolbar" aria-label="Picture">
    <span id="name"></span>
    <select id="charts" title="Chart" aria-label="Chart" hidden></select>
    <span class="space"></span>
    <button id="out" title="Zoom out (-)" aria-label="Zoom out">−</button>
    <button id="in" title="Zoom in (+)" aria-label="Zoom in">+</button>
    <button id="fit" title="Show all (0, or a double click)">Fit</button>
  </div>
  <div id="message" role="status" hidden></div>
  <div id="canvas" tabindex="0" role="img" aria-label="Picture of the chart"></div>
  <script nonce="${nonce}" src="${at('picture.js')}"></script>
</body>
</html>`;
}
