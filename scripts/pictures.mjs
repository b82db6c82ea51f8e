/**
 * `npm run pictures`: takes the pictures of README.md from the sandbox of this tree (docs/pictures). CHROMIUM_PATH names
 * the browser.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build } from './build.mjs';
import { command, Failure, nodeSettings, root, run } from './lib/processes.mjs';
import { parts } from './lib/services.mjs';

const port = 4310;
const site = `http://localhost:${port}`;
/** Of the sandbox, for developers alone. */
const hidden = '.ribbon { display: none !important }';

/** @param {import('playwright-core').Browser} browser @param {'light' | 'dark'} colorScheme */
async function takePages(browser, colorScheme) {
  const wide = await browser.newPage({ viewport: { width: 1280, height: 860 }, colorScheme, bypassCSP: true });
  await wide.goto(`${site}/`);
  await wide.addStyleTag({ content: hidden });
  const signIn = await wide.screenshot();
  const size = { width: 390, height: 800 };
  const phone = await browser.newPage({ viewport: size, colorScheme, bypassCSP: true, deviceScaleFactor: 1.5 });
  await phone.goto(`${site}/`);
  await phone.fill('input[name=username]', 'vera@example.com');
  await phone.fill('input[name=password]', 'open sesame 7');
  await Promise.all([phone.waitForURL((url) => url.pathname !== '/'), phone.press('input[name=password]', 'Enter')]);
  await phone.goto(`${site}/plan-purchase/10`);
  await phone.addStyleTag({ content: hidden });
  const plan = await phone.screenshot();
  return { signIn, plan };
}

/** @param {import('playwright-core').Browser} browser @param {'light' | 'dark'} colorScheme */
async function takePicture(browser, colorScheme) {
  const { signIn, plan } = await takePages(browser, colorScheme);
  const source = (/** @type {Buffer} */ png) => `data:image/png;base64,${png.toString('base64')}`;
  const page = await browser.newPage({ viewport: { width: 1690, height: 920 } });
  await page.setContent(`<style>
    body { margin: 0; background: ${colorScheme === 'light' ? '#e9e6df' : '#05090a'} }
    img { position: absolute; border-radius: 18px; box-shadow: 0 24px 60px #0005 }
    #wide { left: 30px; top: 30px; width: 1280px }
    #phone { right: 40px; top: 70px; width: 380px; border: 8px solid #101413; border-radius: 44px }
  </style><img id="wide" src="${source(signIn)}"><img id="phone" src="${source(plan)}">`);
  const path = join(root, `docs/pictures/foyer-${colorScheme}.png`);
  mkdirSync(join(root, 'docs/pictures'), { recursive: true });
  writeFileSync(path, await page.screenshot());
}

async function waitForServer() {
  for (let attempt = 0; attempt < 120; attempt += 1) {
    const response = await fetch(`${site}/readyz`).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Failure('the server did not start');
}

await command(async () => {
  const executablePath = parts.browser.find();
  if (!executablePath) throw new Failure('There is no Chromium. Install it, or write its path into CHROMIUM_PATH.');
  await build();
  const dir = mkdtempSync(join(tmpdir(), 'foyer-pictures-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  const env = { ...nodeSettings(), DATA_DIR: dir, PORT: String(port) };
  void run(process.execPath, ['dist/sandbox/main.js'], { env, stdio: 'ignore' });
  await waitForServer();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const scheme of /** @type {const} */ (['light', 'dark'])) await takePicture(browser, scheme);
  await browser.close();
  return 0;
});
