// Programs of this machine.

import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { versionIn } from './version';

/** Whether this is a file that may be started. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What a program says with `--version`; nothing if it fails, or says none in ten seconds. */
export function versionOf(program: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, ['--version'], { timeout: 10_000 }, (error, output) => resolve(error === null ? versionIn(output) : undefined));
  });
}
