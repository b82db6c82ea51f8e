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
 * A real Chromium. Whatever a page does wrong unasked (an error in the console, a script that throws, something that the
 * content security policy had to stop, a part of the page that does not load) fails the test in which it happened.
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
  // The same pictures with fewer processes and threads, which few cores would only switch between.
  '--in-process-gpu',
  '--num-raster-threads=1',
  '--renderer-process-limit=1',
  // Nor one for each site that a page comes from: to start one takes the processor longer than most pages do.
  '--disable-site-isolation-trials',
  // What takes turns of the processor away from the page: to optimise scripts that run once, axe above all.
  '--js-flags=--no-opt --no-maglev --always-sparkplug',
  `--disable-features=${[
    // A frame, and what the browser keeps beside it, made anew for every page of a site: a quarter of what it takes to load one.
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
/** Nothing that a test waits for takes this long, unless it never comes. */
const patienceMs = 10_000;

export interface Visitor {
  javaScript?: boolean;
  /** Of the browser; pages answer it with their language. */
  locale?: string;
  colorScheme?: 'light' | 'dark';
  widthPx?: number;
  /** Has a touch screen; `locator.tap()` needs it. */
  touch?: boolean;
}

export interface Chromium {
  /** A page in a browser profile of its own; `page.context().newPage()` opens another tab of the same profile. */
  newPage(visitor?: Visitor): Promise<Page>;
  /** What has gone wrong since the last call. */
  takeFaults(): string[];
  closePages(): Promise<void>;
  close(): Promise<void>;
}

/** Half as long as `axe.source`, and read by every page that is looked at. */
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const isOurs = (url: string) => ['localhost', '127.0.0.1'].includes(new URL(url).hostname);

function watch(context: BrowserContext, fault: (text: string) => void): void {
  context.on('console', (message) => {
    // Which loads fail is told more exactly below.
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
    // What the browser gave up itself, as it went on to another page.
    if (reason !== 'net::ERR_ABORTED') fault(`failed: ${request.method()} ${request.url()}: ${reason}`);
  });
  context.on('response', (response) => {
    const least = response.request().isNavigationRequest() ? 500 : 400;
    if (response.status() >= least) fault(`answered ${response.status()}: ${response.url()}`);
  });
}

const launch = (): Promise<Browser> => chromium.launch({ executablePath: requireService('browser'), args: flags });

/** A Chromium of its own. */
export async function launchChromium(): Promise<Chromium> {
  const browser = await launch();
  return chromiumOf(browser, () => browser.close());
}

let shared: Promise<Browser> | undefined;

/** The one that all test files of this process share; it ends with the process. */
async function sharedBrowser(): Promise<Browser> {
  const known = await shared;
  if (known?.isConnected()) return known;
  shared = launch();
  return shared;
}

/** A profile that waits for its next visitor, with a page of theirs: it keeps the process that draws this profile's pages. */
interface Resting {
  context: BrowserContext;
  next: Page;
}

function chromiumOf(browser: Browser, close: () => Promise<void>, { profilesStay = false } = {}): Chromium {
  let faults: string[] = [];
  /** Those that visitors are in, with what they were asked for with. */
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
 * @param options `pagesStay` leaves the pages open: a new profile reads every stylesheet, font and script again.
 * `profilesStay` gives the next test the last one's profile, where its visitor is alike: without cookies and permissions,
 * with what the browser has loaded; not for tests of caches, virtual authenticators or debuggers
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
    // What it keeps, it keeps by profile, and every page has one of its own.
    running = chromiumOf(await sharedBrowser(), async () => {}, { profilesStay });
  });
  afterEach(async () => {
    if (!pagesStay) await running?.closePages();
    expect(running?.takeFaults()).toEqual([]);
  });
  afterAll(() => running?.close());
  return { newPage: (visitor) => get().newPage(visitor), takeFaults: () => get().takeFaults() };
}

/** One stays with its page: when it goes, the page's virtual authenticators go with it. */
const debuggers = new WeakMap<Page, CDPSession>();

async function debuggerOf(page: Page): Promise<CDPSession> {
  const debug = debuggers.get(page) ?? (await page.context().newCDPSession(page));
  debuggers.set(page, debug);
  return debug;
}

/** Gives a page a window of this width. */
export async function layOut(page: Page, widthPx: number): Promise<void> {
  if (page.viewportSize()?.width !== widthPx) await page.setViewportSize({ width: widthPx, height: heightPx });
}

/** By the debugger, which no policy of the page concerns; `page.evaluate` would copy half a megabyte several times. */
async function addAxe(page: Page): Promise<void> {
  const debug = await debuggerOf(page);
  const { exceptionDetails } = await debug.send('Runtime.evaluate', { expression: axeSource });
  if (exceptionDetails) throw new Error(`axe did not start: ${exceptionDetails.text}`);
}

/** The rules on colours take most of the time, and say the same in every language. */
export type AxeRules = 'all' | 'colours' | 'but colours';
const ofColours = ['color-contrast', 'link-in-text-block'];
const chosen: Record<AxeRules, object> = {
  all: {},
  colours: { runOnly: ofColours },
  'but colours': { rules: Object.fromEntries(ofColours.map((rule) => [rule, { enabled: false }])) },
};

/** What axe finds wrong on the page as it stands, one line per element. */
export async function axeFindings(page: Page, rules: AxeRules = 'all'): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await addAxe(page);
  const options = JSON.stringify({
    resultTypes: ['violations'],
    // No rule that is on asks for the stylesheets again.
    preload: false,
    ...chosen[rules],
  });
  // The rest of the results is long, and nobody reads it.
  const violations = await page.evaluate<AxeResults['violations']>(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} (${help}): ${target.join(' ')}: ${failureSummary}`),
  );
}
