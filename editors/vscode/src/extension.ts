// The entry on the desktop: finds `chartc` and talks to it over its standard input and output.

import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';
import { begin } from './commands';
import { find, foundBy, whyNot } from './find';
import { isProgram, versionOf } from './program';
import { Session, type Server } from './session';

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  session = new Session(context, () => locate(context));
  await begin(session);
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

async function locate(context: vscode.ExtensionContext): Promise<Server | { none: string }> {
  const found = find({
    setting: vscode.workspace.getConfiguration('chartc').get('path', ''),
    environment: process.env.CHARTC,
    path: process.env.PATH ?? process.env.Path,
    home: homedir(),
    windows: process.platform === 'win32',
    extension: context.extensionPath,
    isProgram,
  });
  if (found.kind !== 'found') {
    return { none: whyNot(found) };
  }
  const { program, by } = found;
  return {
    what: `${program}, ${foundBy(by)}`,
    version: await versionOf(program),
    client: (options) => new LanguageClient('chartc', 'chartc', { command: program, args: ['lsp'] }, options),
  };
}
