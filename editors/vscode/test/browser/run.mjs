// Drives the extension in a real workbench in Chromium. `.ci/workbench` installs what it needs and starts it.
//
// CHARTC names the program (else target/debug/chartc), CHROMIUM the browser, SHOTS the folder for pictures of the screen.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bundle } from './bundle.mjs';
import { serve } from './serve.mjs';
import { oss, repository, root } from './tools.mjs';
import { page, Workbench } from './workbench.mjs';

const chartc = process.env.CHARTC ?? join(repository, 'target/debug/chartc');
const executable = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const shots = resolve(process.env.SHOTS ?? join(repository, 'target/workbench/shots'));
mkdirSync(shots, { recursive: true });

const faulty = `/// A door that a typo keeps shut.
chart Door {
  event open
  var opened: Int = 0

  initial shut
  state shut { on opne -> ajar }
  state ajar {
    enter { opened = opened + 1 }
    on open -> shut
    after 10s -> shut
  }
}

test "it falls shut" for Door {
  at ajar
  wait 10s
  expect at shut
}

test "it stays open" for Door {
  at ajar
  wait 10s
  expect at ajar
}
`;
const parent = realpathSync(mkdtempSync(join(tmpdir(), 'chartc-')));
const workspace = join(parent, 'two agents ü');
mkdirSync(workspace);
writeFileSync(join(workspace, 'chartc.toml'), '');
writeFileSync(join(workspace, 'door.chart'), faulty);
for (const name of ['support.chart', 'builder.agent.yaml', 'orders.scxml', 'price_oracle.chart']) {
  cpSync(join(repository, 'charts', name), join(workspace, name));
}
writeFileSync(join(workspace, 'two.chart'), 'chart First { event go  initial a  state a { on go -> b }  final b }\n\nchart Second { event go  initial c  state c { on go -> d }  final d }\n');

const extension = join(repository, 'target/workbench/extension');
await bundle(root, extension);
const settings = {
  'workbench.colorTheme': process.env.THEME ?? 'Default Dark Modern', 'workbench.startupEditor': 'none', 'telemetry.telemetryLevel': 'off',
  'workbench.secondarySideBar.defaultVisibility': 'hidden', 'chat.disableAIFeatures': true, 'editor.minimap.enabled': false, 'extensions.autoCheckUpdates': false, 'extensions.autoUpdate': false,
};
const server = await serve({
  oss, extension, workspace, chartc: process.env.SERVER ? process.env.SERVER.split(' ') : [chartc, 'lsp'],
  page: (address) => page(address, workspace, ['support.chart', 'two.chart', 'builder.agent.yaml', 'orders.scxml', 'door.chart'].map((name) => join(workspace, name)), settings),
});
let workbench;
let passed = 0;
async function step(name, act) {
  const begun = Date.now();
  await act();
  passed += 1;
  console.log(`ok   ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
}

try {
  workbench = await Workbench.open(server.address, { executable, shots, deadline: 60_000 });
  const { page: screen } = workbench;
  const row = (words) => screen.locator('.view-line').filter({ hasText: words }).first();

  await step('colours', async () => {
    await workbench.file('door.chart');
    await row('chart Door').waitFor();
    // What looks alike has one class; these four look different.
    const look = async (line, word) => row(line).locator('span > span').filter({ hasText: new RegExp(`^\\s*${word}\\s*$`) }).first().evaluate((it) => getComputedStyle(it).color);
    await workbench.until('the grammar colours the text', async () => (await look('chart Door', 'chart')) !== (await look('chart Door', 'Door')));
    const colours = [await look('chart Door', 'chart'), await look('state shut', 'on'), await look('chart Door', 'Door'), await look('after 10s', '10s?')];
    assert.equal(new Set(colours).size, 4, `colours: ${colours.join(' ')}`);
  });

  await step('squiggle and problem', async () => {
    await screen.locator('.squiggly-error').first().waitFor();
    await workbench.command('View: Toggle Problems');
    const problem = screen.locator('.markers-panel .monaco-list-row').filter({ hasText: 'opne' }).first();
    await problem.waitFor();
    assert.match((await problem.textContent()) ?? '', /C0\d{3}/);
    await workbench.shot('problems');
    await workbench.command('View: Toggle Problems');
  });

  await step('status bar', async () => {
    const item = screen.locator('.statusbar-item').filter({ hasText: /chartc \d/ });
    await item.waitFor();
  });

  await step('hover', async () => {
    // The finding stands over the typo, and what the server knows over a name.
    const hover = screen.locator('.monaco-hover:not(.hidden) .hover-contents');
    for (const [line, word, told] of [['on opne', 'opne', /C0102/], ['var opened', 'opened', /Int/]]) {
      await row(line).locator('span > span').filter({ hasText: new RegExp(`^\\s*${word}\\s*$`) }).first().hover();
      await hover.filter({ hasText: told }).first().waitFor();
      await workbench.shot(`hover ${word}`);
      await screen.keyboard.press('Escape');
      await screen.mouse.move(0, 0);
    }
  });

  await step('code lens and hints', async () => {
    for (const title of ['Run test', 'Run all 2 tests of Door']) {
      await screen.locator('.codelens-decoration').filter({ hasText: title }).first().waitFor();
    }
    await workbench.shot('lenses');
  });

  await step('the page of a rule', async () => {
    await workbench.command('chartc: Explain Rule', 'C0102');
    const inner = await workbench.frame('h1');
    await inner.locator('h1').filter({ hasText: 'C0102' }).waitFor();
    await workbench.shot('rule');
    await workbench.command('View: Close All Editors in Group');
  });

  await step('picture that follows the cursor', async () => {
    await workbench.file('support.chart');
    await workbench.command('chartc: Show Picture');
    const panel = await workbench.panel();
    await panel.locator('svg g.node').first().waitFor();
    assert.ok((await panel.locator('svg g.node').count()) >= 15);
    await screen.locator('.tab', { hasText: 'support.chart' }).click();
    await workbench.goTo(55, 11);
    await panel.locator('g.at').filter({ hasText: 'idle' }).waitFor();
    await workbench.goTo(75, 9);
    await panel.locator('g.node.at').filter({ hasText: 'sorting' }).waitFor();
    await workbench.goTo(67, 9);
    await panel.locator('g.cluster.at').filter({ hasText: 'open' }).waitFor();
    await workbench.goTo(75, 9);
    await panel.locator('g.node.at').filter({ hasText: 'sorting' }).waitFor();
    await workbench.shot('picture');
  });

  await step('a click on a state or an arrow shows the text', async () => {
    const panel = await workbench.panel();
    await panel.locator('g.node').filter({ hasText: /^\s*s\d+\s*idle/ }).click();
    await screen.locator('.active-line-number').filter({ hasText: /^55$/ }).waitFor();
    await panel.locator('g.node.at').filter({ hasText: 'idle' }).waitFor();
    await panel.locator('g.edge text').filter({ hasText: 'kind == Kind.spam' }).click();
    await screen.locator('.active-line-number').filter({ hasText: /^81$/ }).waitFor();
    await panel.locator('g.node.at').filter({ hasText: 'sorting' }).waitFor();
    const arrow = panel.locator('g.edge.at');
    await arrow.filter({ hasText: 'kind == Kind.spam' }).waitFor();
    assert.equal(await arrow.count(), 1);
    await workbench.shot('revealed');
    // In the line of another arrow that one is pointed out, and in the line of a state none is.
    await screen.locator('.tab', { hasText: 'support.chart' }).click();
    await workbench.goTo(99, 12);
    await arrow.filter({ hasText: 'you know what to answer' }).waitFor();
    assert.equal(await arrow.count(), 1);
    await workbench.shot('arrow');
    await workbench.goTo(85, 12);
    await arrow.waitFor({ state: 'detached' });
  });

  await step('the last picture stays while the text is broken', async () => {
    await workbench.file('support.chart');
    await workbench.goTo(64, 1);
    await screen.keyboard.type('state {{{ ');
    const panel = await workbench.panel();
    await panel.locator('#message:not([hidden])').waitFor();
    assert.ok((await panel.locator('svg g.node').count()) >= 15);
    await workbench.shot('broken');
    for (let i = 0; i < 'state {{{ '.length; i += 1) {
      await screen.keyboard.press('Backspace');
    }
    await panel.locator('#message').waitFor({ state: 'hidden' });
  });

  await step('a file with two charts', async () => {
    await workbench.file('two.chart');
    const panel = await workbench.panel();
    await panel.locator('#charts option').nth(1).waitFor({ state: 'attached' });
    await workbench.goTo(3, 40);
    await workbench.until('the picture is of the second', async () => (await panel.locator('#charts').inputValue()) === 'Second');
    await panel.locator('#charts').selectOption('First');
    await panel.locator('g.node').filter({ hasText: 'a' }).first().waitFor();
    await workbench.shot('two');
  });

  await step('agents and SCXML documents', async () => {
    const panel = await workbench.panel();
    for (const [name, state] of [['builder.agent.yaml', 'observing'], ['orders.scxml', 'packing']]) {
      await workbench.file(name);
      await panel.locator('g.node, g.cluster').filter({ hasText: state }).first().waitFor();
      await workbench.shot(name);
    }
  });

  await step('a fix, a picture once there is one, and tests', async () => {
    await workbench.file('door.chart');
    // It has errors, and no picture of another text stands in for its own.
    const panel = await workbench.panel();
    await panel.locator('#message').filter({ hasText: 'There is no picture' }).waitFor();
    assert.equal(await panel.locator('svg').count(), 0);
    await workbench.goTo(7, 20);
    await screen.keyboard.press('Control+.');
    const fix = screen.locator('.action-widget .monaco-list-row').filter({ hasText: 'open' }).first();
    await fix.waitFor();
    await workbench.shot('fixes');
    await screen.keyboard.press('Enter');
    await row(/on\s+open\s+->\s+ajar/).waitFor();
    await panel.locator('g.node.at').filter({ hasText: 'shut' }).waitFor();
    await screen.locator('.codelens-decoration a').filter({ hasText: 'Run all 2 tests of Door' }).first().click();
    const icon = (kind) => screen.locator(`.editor-instance [class*="codicon-testing-${kind}"]`).first();
    await icon('passed').waitFor();
    await icon('failed').waitFor();
    await workbench.shot('tests');
  });

  await step('a text that was never saved', async () => {
    await screen.locator('.tab', { hasText: 'door.chart' }).click();
    await workbench.command('New Untitled Text File');
    await workbench.command('Change Language Mode', 'Statechart');
    await screen.keyboard.type('chart A {\nevent go\ninitial here\nstate here { on gone -> there }\nfinal there', { delay: 5 });
    await screen.locator('.squiggly-error').first().waitFor();
    const panel = await workbench.panel();
    await panel.locator('#message').filter({ hasText: 'the text has errors' }).waitFor();
    await screen.locator('.statusbar-item').filter({ hasText: /chartc \d/ }).waitFor();
    await workbench.goTo(4, 23);
    await screen.keyboard.press('Backspace');
    await screen.keyboard.press('Backspace');
    await panel.locator('g.node.at').filter({ hasText: 'here' }).waitFor();
    await workbench.shot('untitled');
    // At the target; words of the text alone would be offered without a kind.
    await workbench.goTo(4, 25);
    await screen.keyboard.press('Control+Space');
    const offered = screen.locator('.suggest-widget .monaco-list-row').filter({ has: screen.locator('.suggest-icon:not(.codicon-symbol-text)') });
    await offered.filter({ hasText: 'here' }).first().waitFor();
    await workbench.shot('completion');
    await screen.keyboard.press('Escape');
  });

  await step('the panel keeps to its policy, and nothing leaves the machine', async () => {
    assert.deepEqual(workbench.said.filter((words) => /Content Security Policy/i.test(words)), []);
    assert.deepEqual(workbench.left.filter((url) => !/vscode-cdn\.net|vscode-resource/.test(url)), []);
  });
  console.log(`${passed} steps passed; screens in ${shots}`);
} catch (error) {
  console.error(error);
  console.error(server.said());
  if (workbench !== undefined) {
    await workbench.shot('failed');
    console.error(workbench.said.slice(-40).join('\n'));
    console.error(`screen: ${shots}/failed.png`);
  }
  process.exitCode = 1;
} finally {
  await workbench?.close();
  server.close();
  rmSync(parent, { recursive: true, force: true });
}
