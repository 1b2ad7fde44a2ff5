// A workbench in a browser, and what a person does in it. Every wait is for a condition, with a deadline.
import { chromium } from './tools.mjs';

/** The page: the workbench with the extension built in, on a folder, with settings. */
export function page(address, folder, open, settings) {
  const uri = (path) => ({ scheme: 'disk', path });
  const config = {
    folderUri: uri(folder),
    additionalBuiltinExtensions: [{ scheme: 'http', authority: new URL(address).host, path: '/extension' }],
    productConfiguration: {
      nameShort: 'Workbench', nameLong: 'Workbench', applicationName: 'workbench', dataFolderName: '.workbench', quality: 'stable', commit: 'test',
      webEndpointUrlTemplate: `${address}/oss`,
      webviewContentExternalBaseUrlTemplate: `${address.replace('workbench', '{{uuid}}')}/oss/out/vs/workbench/contrib/webview/browser/pre/`,
      extensionEnabledApiProposals: {},
    },
    configurationDefaults: settings,
    defaultLayout: { force: true, editors: open.map((path) => ({ uri: uri(path) })) },
    developmentOptions: { logLevel: 3 },
  };
  return `<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><link rel="stylesheet" href="/oss/out/vs/workbench/workbench.web.main.internal.css"></head>
<body aria-label=""></body>
<script>globalThis._VSCODE_FILE_ROOT = '${address}/oss/out/';</script>
<script type="module">
  await import('/oss/out/nls.messages.js');
  const { default: init } = await import('/oss/workbench.js');
  init(document.body, ${JSON.stringify(config)});
</script>
</html>`;
}

export class Workbench {
  static async open(address, { executable, shots, deadline }) {
    const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
    const context = await browser.newContext({ viewport: { width: 1500, height: 900 } });
    const page = await context.newPage();
    page.setDefaultTimeout(deadline);
    const said = [];
    page.on('console', (message) => said.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => said.push(`error: ${error.message}`));
    // Nothing may leave the machine, neither from the extension nor from its panel.
    const left = [];
    await context.route('**/*', (route) => {
      const { hostname, protocol } = new URL(route.request().url());
      if (hostname === 'localhost' || hostname.endsWith('.localhost') || !/^(https?|wss?):$/.test(protocol)) {
        return route.continue();
      }
      left.push(route.request().url());
      return route.abort();
    });
    await page.goto(address);
    return new Workbench(browser, page, shots, said, left);
  }

  constructor(browser, page, shots, said, left) {
    Object.assign(this, { browser, page, shots, said, left });
  }

  async shot(name) {
    await this.page.screenshot({ path: `${this.shots}/${name}.png` });
  }

  /** Chooses a command; `answer` is typed where it asks for something. */
  async command(title, answer) {
    await this.page.keyboard.press('F1');
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    await input.waitFor();
    await input.fill(`>${title}`);
    // Others may have names that begin or end alike.
    const whole = new RegExp(`^(?:[^:]*: )?${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
    await this.page.locator('.quick-input-list .monaco-list-row').filter({ has: this.page.locator('.label-name', { hasText: whole }) }).first().click();
    if (answer !== undefined) {
      await this.until('it asks', async () => (await input.inputValue()) === '');
      await input.fill(answer);
      await this.page.keyboard.press('Enter');
    }
    await input.waitFor({ state: 'hidden' });
  }

  /** Brings an open file to the front. */
  async file(name) {
    const tab = this.page.locator('.tab', { hasText: name });
    await tab.click();
    await this.page.locator('.tab.active', { hasText: name }).waitFor();
    await this.page.locator('.editor-group-container.active .monaco-editor.focused').waitFor();
  }

  /** Puts the cursor before the first place in the open text where these words stand. */
  async goTo(line, column = 1) {
    await this.page.keyboard.press('Control+G');
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    await input.waitFor();
    await input.fill(`:${line}:${column}`);
    await this.page.keyboard.press('Enter');
    await input.waitFor({ state: 'hidden' });
  }

  /** The document in the panel with the picture. */
  panel() {
    return this.frame('#canvas');
  }

  /** The document of a panel in which there is such an element. */
  async frame(element) {
    const inner = this.page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
    await inner.locator(element).first().waitFor();
    return inner;
  }

  /** Waits until the function says what is wanted. */
  async until(what, holds, deadline = 30_000) {
    const end = Date.now() + deadline;
    let last;
    for (;;) {
      try {
        last = await holds();
      } catch (error) {
        last = error;
      }
      if (last === true) {
        return;
      }
      if (Date.now() > end) {
        throw new Error(`not so within ${deadline / 1000} s: ${what} (${last instanceof Error ? last.message : JSON.stringify(last)})`);
      }
      await this.page.waitForTimeout(50);
    }
  }

  close() {
    return this.browser.close();
  }
}
