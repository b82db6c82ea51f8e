import { byStandardKind, type ProviderKind, providerKinds } from '../../config/standard-providers.ts';
import { answerOf, comeBy, type Kind, pressButton, somebody } from '../federation/steps.ts';
import { type Asking, Browser, locationOf, noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { loot } from '../support/loot.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

/** Everything that Foyer sends to this browser, as one text. */
class Listening extends Browser {
  readonly heard: string[] = [];
  override async request(path: string, init: Asking = {}): Promise<Response> {
    const answer = await super.request(path, init);
    this.heard.push(JSON.stringify([...answer.headers]), await answer.clone().text());
    return answer;
  }
}

/** Each failure whose message could repeat a part of the exchange. */
const broken = {
  ...byStandardKind(() => ['error', 'wrong-code', 'token-error', 'profile-error', 'profile-not-json'] as const),
  google: ['error', 'wrong-code', 'token-error', 'token-not-json', 'token-empty', 'profile-error', 'profile-not-json'],
  facebook: ['error', 'token-error', 'token-server-error', 'profile-error', 'profile-empty', 'profile-drops'],
  amazon: ['error', 'wrong-code', 'token-drops', 'profile-error', 'profile-server-error', 'profile-not-json'],
  oidc: ['wrong-iss', 'token-error', 'token-not-json', 'id-token-wrong-nonce', 'id-token-other-key', 'profile-error'],
} as const satisfies Record<Exclude<ProviderKind, 'saml'>, readonly string[]>;

const subject = '112233445566778899001';

describe.each(backends)('the secrets of providers, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  /** Every answer of Foyer to browsers. */
  let shown = '';
  let stolen = '';
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '100000' });
    const browsers: Listening[] = [];
    const listen = () => {
      const browser = new Listening(foyer.url);
      browsers.push(browser);
      return browser;
    };
    for (const kind of providerKinds) {
      const [browser, who] = [listen(), somebody(providers, kind, kind === 'google' ? { subject } : {})];
      for (const visitor of [browser, listen()]) {
        const answer = await comeBy(providers, visitor, kind, who);
        await visitor.get(locationOf(answer));
        await visitor.get('/settings/providers');
      }
    }
    for (const [kind, ways] of Object.entries(broken) as [Kind, typeof broken.google][]) {
      for (const way of ways) await fail(listen(), kind, way);
    }
    // Answers that come twice, in another browser, at another provider, or that are invalid, must reveal no secret.
    const visitor = listen();
    const answer = await answerOf(
      providers,
      'google',
      somebody(providers, 'google'),
      await pressButton(visitor, 'google'),
    );
    for (const at of [answer, answer.replace('google', 'amazon'), `${answer}&state=x`]) {
      for (const one of [listen(), visitor]) await one.get(at, { from: 'cross-site' });
    }
    shown = browsers.flatMap(({ heard }) => heard).join('\n');
    stolen = await loot(foyer.stores);
  }, 60_000);
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  async function fail(browser: Browser, kind: Kind, way: string): Promise<void> {
    const address = await pressButton(browser, kind);
    providers.answerAs(way as 'error', kind);
    const answer = await sendRequest(address, { redirect: 'manual' });
    const end = await browser.get(locationOf(answer), { from: 'cross-site' });
    expect(noticeOf(locationOf(end))).toMatch(/^federation:/);
    await browser.get(locationOf(end));
  }

  /** The value plain and as encoded in an address, a form and JSON. */
  const found = (text: string) =>
    providers
      .secrets()
      .filter((secret) =>
        [
          secret,
          encodeURIComponent(secret),
          JSON.stringify(secret).slice(1, -1),
          secret.replaceAll('=', '&#x3D;'),
        ].some((form) => text.includes(form)),
      );

  it('No provider secret is in a page or a header that a browser gets', () => {
    expect(found(shown)).toEqual([]);
  });

  it('No provider secret is in the log at its most verbose level', () => {
    expect(found(foyer.logged())).toEqual([]);
  });

  it('No provider secret is in the stores, neither in plain text nor sealed', () => {
    expect(found(stolen)).toEqual([]);
    // The stores do hold the subject, so the search is not empty.
    expect(stolen).toContain(subject);
  });

  it('No PKCE verifier is in the stores before it is used', async () => {
    const before = providers.exchanges.length;
    const browser = foyer.browser();
    const address = await pressButton(browser, 'google');
    const now = await loot(foyer.stores);
    await browser.get(await answerOf(providers, 'google', somebody(providers, 'google'), address), {
      from: 'cross-site',
    });
    const verifiers = providers.exchanges.slice(before).flatMap(({ body }) => body.code_verifier ?? []);
    expect(verifiers).toHaveLength(1);
    expect(now).not.toContain(verifiers[0]);
    expect(now).not.toContain(new URL(address).searchParams.get('state'));
  });

  it('The test has recorded secrets of each kind, and the pages and the log contain the flows', () => {
    const kinds = {
      google: /^GOCSPX-/,
      code: /^4\/0A/,
      token: /^ya29\./,
      facebook: /^EAA/,
      amazon: /^Atza\|/,
      idToken: /^eyJ/,
    };
    for (const kind of Object.values(kinds)) expect(providers.secrets().some((secret) => kind.test(secret))).toBe(true);
    expect(providers.secrets().length).toBeGreaterThan(60);
    expect(shown.length).toBeGreaterThan(100_000);
    expect(foyer.logged().match(/"act":"federation"/g)?.length).toBeGreaterThan(25);
    const [secret = ''] = providers.secrets();
    expect(found(`before ${encodeURIComponent(secret)} after`)).toContain(secret);
  });
});
