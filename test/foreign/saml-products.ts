import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeSigner } from '../../sandbox/providers/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { cliOn } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { goingOnTo } from '../support/saml.ts';
import { freePort } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';
import { type ForeignApp, startForeignApp } from './foreign-app.ts';

type Settings = Record<string, unknown>;

/** Software of another author that is a SAML identity provider. */
export interface SamlProduct {
  name: string;
  /** Its files, below the folder of the apps. */
  files: string;
  metadataPath: string;
  /** @param folder with its files, its key (server.pem) and its certificate (server.crt) */
  command(folder: string, port: number): string[];
}

/** One identity provider of a product, and the company of Foyer that belongs to it. */
export interface SamlCompany {
  /** Settings of the product. */
  hosted?: Settings;
  /** Of the entry in PROVIDERS_FILE, beside what `foyer provider import` writes. */
  entry?: Settings;
  /** A change of Foyer's metadata before the product reads them. */
  metadata?: (xml: string) => string;
}

/** `hosted` are settings of saml20-idp-hosted.php. */
export const simpleSamlPhp: SamlProduct = {
  name: 'SimpleSAMLphp',
  files: 'debian/simplesamlphp',
  metadataPath: '/saml2/idp/metadata.php',
  command: (folder, port) => {
    const root = ['-t', '/usr/share/simplesamlphp/www'];
    return ['/usr/bin/env', `SIMPLESAMLPHP_CONFIG_DIR=${folder}`, 'php', '-S', `127.0.0.1:${port}`, ...root];
  },
};

/** `hosted` are settings of its `idp`, and of the program that uses the library. */
export const pysaml2: SamlProduct = {
  name: 'pysaml2',
  files: 'debian/pysaml2',
  metadataPath: '/metadata',
  command: (folder) => ['/usr/bin/python3', join(folder, 'idp.py')],
};

export interface PostedForm {
  action: string;
  fields: Record<string, string>;
}

const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#039;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

/** The first form of a page, with its hidden fields. */
export function readForm(html: string): PostedForm {
  const [, action = ''] = /<form[^>]*\baction="([^"]*)"/.exec(html) ?? [];
  const inputs = [...html.matchAll(/<input\b[^>]*type="hidden"[^>]*>/g)].map(([tag]) => {
    const [, name = ''] = /\bname="([^"]*)"/.exec(tag) ?? [];
    const [, value = ''] = /\bvalue="([^"]*)"/.exec(tag) ?? [];
    return [unescaped(name), unescaped(value)];
  });
  return { action: unescaped(action), fields: Object.fromEntries(inputs) };
}

/** Starts one provider for each entry, and a Foyer whose file of providers its own command has imported. */
export async function startSamlCompanies<Id extends string>(product: SamlProduct, setups: Record<Id, SamlCompany>) {
  const folder = mkdtempSync(join(tmpdir(), 'foyer-saml-product-'));
  const file = join(folder, 'providers.json');
  const hour = 3_600_000;
  const makePair = () => makeSigner('provider', Date.now() - 60_000, Date.now() + hour);
  const own = makePair();
  writeFileSync(join(folder, 'own.key'), own.privateKey);
  writeFileSync(join(folder, 'own.crt'), own.certificate);
  const providersFile = { serviceProvider: { privateKey: 'own.key', certificate: 'own.crt' }, providers: [] };
  writeFileSync(file, JSON.stringify(providersFile));

  const servers = new Map<string, { app: ForeignApp; url: string; folder: string }>();
  async function startServer(id: string, hosted: Settings, port: number): Promise<void> {
    const url = `http://127.0.0.1:${port}`;
    const { privateKey, certificate } = makePair();
    let at = '';
    const app = await startForeignApp(
      {
        name: product.name,
        command: (_variables, appFolder) => {
          at = join(appFolder, product.files);
          writeFileSync(join(at, 'server.pem'), privateKey);
          writeFileSync(join(at, 'server.crt'), certificate);
          return product.command(at, port);
        },
      },
      {
        ISSUER: '',
        APP_URL: url,
        CLIENT_ID: '',
        CLIENT_SECRET: '',
        PORT: String(port),
        HOSTED: JSON.stringify(hosted),
        MAIL: `ada@${id}.example`,
      },
    );
    servers.set(id, { app, url, folder: at });
  }
  const companies = Object.entries<SamlCompany>(setups);
  const ports = new Set<number>();
  while (ports.size < companies.length) ports.add(await freePort());
  await Promise.all(
    [...ports].map((port, index) => {
      const [id = '', { hosted = {} } = {}] = companies[index] ?? [];
      return startServer(id, hosted, port);
    }),
  );

  const environment = { PROVIDERS_FILE: file };
  const command = cliOn({ databaseUrl: '', redisUrl: '', dataDir: join(folder, 'none') }, environment);
  for (const [id, { entry = {} }] of companies) {
    const address = `${servers.get(id)?.url}${product.metadataPath}`;
    const run = await command('provider', 'import', address, '--id', id, '--name', 'Acme');
    if (run.code !== 0) throw new Error(`${run.out}${run.err}\n${servers.get(id)?.app.output()}`);
    const imported = JSON.parse(readFileSync(file, 'utf8'));
    Object.assign(imported.providers.at(-1), { domains: [`${id}.example`], ...entry });
    writeFileSync(file, JSON.stringify(imported));
  }
  const foyer: TestFoyer = await startFoyer(anyBackend, { ...environment, GUESS_LIMIT_ADDRESS: '100000' });
  for (const [id, { metadata = (xml: string) => xml }] of companies) {
    const xml = await (await foyer.browser().get(`/federation/${id}/metadata`)).text();
    writeFileSync(join(servers.get(id)?.folder ?? '', 'service-provider.xml'), metadata(xml));
  }
  const serverAt = (id: string) => {
    const server = servers.get(id);
    if (!server) throw new Error(`no such provider: ${id}`);
    return server;
  };

  /** Follows redirects and the forms that submit themselves, until a page of the product or an address of Foyer. */
  async function follow(browser: Browser, first: Response, at: string): Promise<{ address: string; html: string }> {
    let answer = first;
    let address = at;
    for (let hops = 0; answer.status >= 300 && answer.status < 400 && hops < 20; hops += 1) {
      address = new URL(answer.headers.get('location') ?? '', address).href;
      if (address.startsWith(foyer.url)) return { address, html: '' };
      answer = await browser.get(address);
    }
    return { address, html: await answer.text() };
  }

  /** Presses the button of the provider. @returns what the product shows: its form, or the page that posts the answer */
  async function press(id: Id, browser: Browser, search = '') {
    const url = await goingOnTo(await browser.post(`/federation/${id}${search}`));
    if (url.origin !== foyer.url) return follow(browser, await browser.get(url.href), url.href);
    return follow(browser, await postRequest(browser, url), serverAt(id).url);
  }

  /** Submits the form of the product, if it asks. */
  async function signInThere(browser: Browser, page: { address: string; html: string }) {
    if (!asksThere(page)) return page;
    const { fields } = readForm(page.html);
    const person = { username: 'ada', password: 'secret' };
    const posted = await browser.post(page.address, { ...fields, ...person }, { origin: new URL(page.address).origin });
    return follow(browser, posted, page.address);
  }

  /** Foyer's page that posts the request. */
  async function postRequest(browser: Browser, url: URL) {
    const { action, fields } = readForm(await (await browser.get(url.href)).text());
    return browser.post(action, fields, { origin: foyer.url, 'sec-fetch-site': 'cross-site' });
  }

  /** Posts the response to Foyer. @returns the address to which Foyer leads */
  async function deliver(browser: Browser, html: string): Promise<string> {
    const { action, fields } = readForm(html);
    if (!action.startsWith(foyer.url)) throw new Error(`no form for Foyer: ${html.slice(0, 3_000)}`);
    const headers = { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'cross-site' };
    const posted = await browser.submit(new URL(action).pathname, fields, headers);
    return locationOf(await browser.get(locationOf(posted)));
  }

  return {
    foyer,
    command,
    environment,
    serverAt,
    follow,
    press,
    signInThere,
    deliver,
    /** Signs in there and here. @returns the address to which Foyer leads */
    async signIn(id: Id, browser = foyer.browser(), search = '') {
      const { html } = await signInThere(browser, await press(id, browser, search));
      return deliver(browser, html);
    },
    async close() {
      await foyer.close();
      await Promise.all([...servers.values()].map(({ app }) => app.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Whether the page is the product's form for name and password. */
export const asksThere = ({ html }: { html: string }): boolean => html.includes('name="password"');
