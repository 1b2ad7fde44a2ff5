// The commands, and all that stands around a session.

import * as vscode from 'vscode';
import { PicturePanel } from './picture/panel';
import { Rules } from './rules';
import type { Session } from './session';
import { Tests } from './tests';

export async function begin(session: Session): Promise<void> {
  const panel = new PicturePanel(session);
  const tests = new Tests(session);
  const rules = new Rules(session);
  session.context.subscriptions.push(
    session,
    panel,
    tests,
    rules,
    // Of the code lens: `[uri, chart]`; of the palette: none; of the editor's title: the document's.
    vscode.commands.registerCommand('chartc.showPicture', (of?: string | vscode.Uri, chart?: unknown) => {
      const uri = typeof of === 'string' ? session.uri(of) : (of ?? vscode.window.activeTextEditor?.document.uri);
      if (uri === undefined) {
        void vscode.window.showInformationMessage('Open a chart, an agent.yaml or an SCXML document to see its picture.');
      } else {
        panel.show(uri, typeof chart === 'string' ? chart : undefined);
      }
    }),
    vscode.commands.registerCommand('chartc.runTest', (uri: string, name: string) => tests.runOne(session.uri(uri), name)),
    vscode.commands.registerCommand('chartc.runTests', (uri: string, chart: string) => tests.runChart(session.uri(uri), chart)),
    vscode.commands.registerCommand('chartc.explain', (code?: string) => rules.show(code)),
    vscode.commands.registerCommand('chartc.restart', () => session.restart()),
    vscode.commands.registerCommand('chartc.showLog', () => session.log.show()),
  );
  await session.restart();
}
