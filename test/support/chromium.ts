import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core';
import { requireService } from './services.ts';

/**
 * A real Chromium. Any fault of a page (an error in the console, an exception, a violation of the content security
 * policy, a failed load) fails the test in which it happened.
 */

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The same pictures with fewer processes and threads, between which a few cores would only switch.
  '--in-process-gpu',
  '--num-raster-threads=1',
  '--renderer-process-limit=1',
  // No process for each site of a page either: starting one takes the processor longer than most pages do.
  '--disable-site-isolation-trials',
  // Avoids work of the processor beside the page: optimizing scripts that run once, above all axe.
  '--js-flags=--no-opt --no-maglev --always-sparkplug',
  `--disable-features=${[
    // A new frame, with the browser's own data, for every page of a site: a quarter of the time to load one.
    'RenderDocument',
    // The flag replaces Playwright's own, of which these matter to pages of one machine.
    'AvoidCorsURLLoaderRestartOnRedirect',
    'AvoidUnnecessaryBeforeUnloadCheckSync',
    'HttpsFirstBalancedModeAutoEnable',
    'HttpsUpgrades',
    'MediaRouter',
    'OptimizationHints',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ]}`,
];

export const heightPx = 800;
/** Longer than anything that a test waits for. */
const patienceMs = 30_000;

export interface Visitor {
  javaScript?: boolean;
  /** The browser's language, which pages use. */
  locale?: string;
  colorScheme?: 'light' | 'dark';
  widthPx?: number;
  /** Has a touch screen; `locator.tap()` needs it. */
  touch?: boolean;
}

export interface Chromium {
  /** A page in a browser profile of its own; `page.context().newPage()` opens another tab of the same profile. */
  newPage(visitor?: Visitor): Promise<Page>;
  /** The faults since the last call. */
  takeFaults(): string[];
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** Half as long as `axe.source`, which every checked page would have to parse. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const isOurs = (url: string) => ['localhost', '127.0.0.1'].includes(new URL(url).hostname);

function watch(context: BrowserContext, fault: (text: string) => void): void {
  context.on('console', (message) => {
    // The events below report failed loads in more detail.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource:')) {
      fault(`console: ${message.text()} (${message.location().url})`);
    }
  });
  context.on('weberror', (error) => fault(`script: ${error.error().stack ?? error.error().message}`));
  context.on('request', (request) => {
    if (/^https?:/.test(request.url()) && !isOurs(request.url())) fault(`asked another site: ${request.url()}`);
  });
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser aborted it itself when it navigated.
    if (reason !== 'net::ERR_ABORTED') fault(`failed: ${request.method()} ${request.url()}: ${reason}`);
  });
  context.on('response', (response) => {
    // A refused form, whether the answer is a page or the part of one.
    const isForm = response.request().isNavigationRequest() || 'foyer-part' in response.request().headers();
    const least = isForm ? 500 : 400;
    if (response.status() >= least) fault(`answered ${response.status()}: ${response.url()}`);
  });
}

const launch = (): Promise<Browser> => chromium.launch({ executablePath: requireService('browser'), args: flags });

/** A separate Chromium. */
export async function launchChromium(): Promise<Chromium> {
  const browser = await launch();
  return chromiumOf(browser, () => browser.close());
}

let shared: Promise<Browser> | undefined;

/** The browser that all test files of this process share; it ends with the process. */
async function sharedBrowser(): Promise<Browser> {
  const known = await shared;
  if (known?.isConnected()) return known;
  shared = launch();
  return shared;
}

/** A profile that waits for its next visitor, with a page: it keeps the renderer process of this profile. */
interface Resting {
  context: BrowserContext;
  next: Page;
}

function chromiumOf(browser: Browser, close: () => Promise<void>, { profilesStay = false } = {}): Chromium {
  let faults: string[] = [];
  /** The profiles in use, with their options. */
  const contexts = new Map<BrowserContext, string>();
  const resting = new Map<string, Resting[]>();
  async function rest(context: BrowserContext, visitor: string): Promise<void> {
    const left = context.pages();
    const next = await context.newPage();
    await Promise.all(left.map((page) => page.close()));
    await Promise.all([context.clearCookies(), context.clearPermissions()]);
    resting.set(visitor, [...(resting.get(visitor) ?? []), { context, next }]);
  }
  const closePages = async () => {
    const open = [...contexts];
    contexts.clear();
    await Promise.all(open.map(([context, visitor]) => (profilesStay ? rest(context, visitor) : context.close())));
  };
  return {
    async newPage(visitor = {}) {
      const { javaScript = true, locale = 'en-GB', colorScheme = 'light', widthPx = 1366, touch = false } = visitor;
      const known = JSON.stringify({ javaScript, locale, colorScheme, widthPx, touch });
      const rested = resting.get(known)?.pop();
      if (rested) {
        contexts.set(rested.context, known);
        return rested.next;
      }
      const options: BrowserContextOptions = {
        javaScriptEnabled: javaScript,
        locale,
        colorScheme,
        viewport: { width: widthPx, height: heightPx },
        reducedMotion: 'reduce',
        hasTouch: touch,
      };
      const context = await browser.newContext(options);
      contexts.set(context, known);
      context.setDefaultTimeout(patienceMs);
      watch(context, (text) => faults.push(text));
      await context.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
          console.error(`the policy ${violatedDirective} has stopped ${blockedURI}`),
        );
      });
      return context.newPage();
    },
    takeFaults() {
      const taken = faults;
      faults = [];
      return taken;
    },
    closePages,
    async close() {
      await closePages();
      const left = [...resting.values()].flat();
      resting.clear();
      await Promise.all(left.map(({ context }) => context.close()));
      await close();
    },
  };
}

/**
 * For a describe block: a Chromium for its tests, each of which ends without faults and without its pages.
 * @param options `pagesStay` keeps the pages open: a new profile reads every stylesheet, font and script again.
 * `profilesStay` gives the next test the last one's profile if the visitor's options are equal: without cookies and
 * permissions, with the browser's caches; not for tests of caches, virtual authenticators or debuggers
 */
export function chromiumForTests({
  pagesStay = false,
  profilesStay = false,
} = {}): Pick<Chromium, 'newPage' | 'takeFaults'> {
  let running: Chromium | undefined;
  const get = (): Chromium => {
    if (!running) throw new Error('Chromium runs within tests only');
    return running;
  };
  beforeAll(async () => {
    // Its caches are per profile, and every page has its own profile.
    running = chromiumOf(await sharedBrowser(), async () => {}, { profilesStay });
  });
  afterEach(async () => {
    if (!pagesStay) await running?.closePages();
    expect(running?.takeFaults()).toEqual([]);
  });
  afterAll(() => running?.close());
  return { newPage: (visitor) => get().newPage(visitor), takeFaults: () => get().takeFaults() };
}

/** A session stays with its page: when it ends, the page's virtual authenticators end too. */
const debuggers = new WeakMap<Page, CDPSession>();

export async function debuggerOf(page: Page): Promise<CDPSession> {
  const debug = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, debug);
  return debug;
}

/** Sets the width of a page's window. */
export async function layOut(page: Page, widthPx: number): Promise<void> {
  if (page.viewportSize()?.width !== widthPx) await page.setViewportSize({ width: widthPx, height: heightPx });
}

/**
 * With the debugger, to which no policy of the page applies; `page.evaluate` would copy half a megabyte several times.
 */
async function addAxe(page: Page): Promise<void> {
  const debug = await debuggerOf(page);
  const { exceptionDetails } = await debug.send('Runtime.evaluate', { expression: axeSource });
  if (exceptionDetails) throw new Error(`axe did not start: ${exceptionDetails.text}`);
}

/** The rules about colors alone: for a second look in dark colors, or at a structure that has passed the others. */
export type AxeRules = 'all' | 'colours';
const ofColours = ['color-contrast', 'link-in-text-block'];
const chosen: Record<AxeRules, object> = {
  all: {},
  colours: { runOnly: ofColours },
};

/** The findings of axe on the current page, one line per element. */
export async function axeFindings(page: Page, rules: AxeRules = 'all'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await addAxe(page);
  const options = JSON.stringify({
    resultTypes: ['violations'],
    // No enabled rule needs the stylesheets again.
    preload: false,
    ...chosen[rules],
  });
  // The other results are long and unused.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}): ${target.join(' ')}: ${failureSummary}`),
  );
}
