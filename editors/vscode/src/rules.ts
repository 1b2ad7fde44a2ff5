// Pages of rules, which the server knows, as Markdown beside the text.

import * as vscode from 'vscode';
import { explainRequest } from './protocol';
import type { Session } from './session';

const scheme = 'chartc-rule';

export class Rules implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly own = vscode.workspace.registerTextDocumentContentProvider(scheme, this);

  constructor(private readonly session: Session) {}

  dispose(): void {
    this.own.dispose();
  }

  /** Shows the page of a rule; without a code it asks for one. */
  async show(code?: string): Promise<void> {
    const wanted = code ?? (await vscode.window.showInputBox({ prompt: 'Which rule?', placeHolder: 'C0102' }));
    if (wanted !== undefined && wanted.trim() !== '') {
      await vscode.commands.executeCommand('markdown.showPreviewToSide', vscode.Uri.from({ scheme, path: `${wanted.trim()}.md` }));
    }
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const { client } = this.session;
    if (client === undefined) {
      return this.session.whyNone();
    }
    try {
      return await client.sendRequest(explainRequest, { code: uri.path.replace(/\.md$/, '') });
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
