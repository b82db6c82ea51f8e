import type { IncomingMessage, ServerResponse } from 'node:http';
import { FederationError } from '../../server/federation/identity.ts';
import { answerOf, comeBy, type Kind, pathOf, pressButton, somebody } from '../federation/steps.ts';
import { begin, providersBy, settingsOf } from '../federation/strategies.ts';
import { type Browser, locationOf, noticeOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { ownTime } from '../support/own-time.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { anyBackend } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Fault, quickFaults, slowFaults } from './faulty-answers.ts';

/** The calls of one sign-in, by the paths of the providers' stand-ins; `discovery` and `keys` have OpenID Connect alone. */
const paths = {
  google: { token: '/token', profile: '/v1/userinfo' },
  facebook: { token: '/v23.0/oauth/access_token', profile: '/v23.0/me' },
  amazon: { token: '/auth/o2/token', profile: '/user/profile' },
  oidc: {
    discovery: '/acme-oidc/.well-known/openid-configuration',
    keys: '/acme-oidc/jwks',
    token: '/acme-oidc/token',
    profile: '/acme-oidc/userinfo',
  },
  saml: { metadata: '/acme-saml/metadata' },
} as const;
const calls = Object.entries({ google: paths.google, facebook: paths.facebook, amazon: paths.amazon, oidc: paths.oidc })
  .flatMap(([kind, steps]) => Object.entries(steps).map(([call, path]) => ({ kind: kind as Kind, call, path })))
  .filter(({ call }) => call !== 'discovery');

/** Longer than the limit of one answer (10 seconds), and of what else a sign-in does. */
const inTimeMs = 15_000;
const ofProvider = ['federation:unreachable', 'federation:provider-error', 'federation:invalid'];
const refusalKind = (error: unknown) => (error instanceof FederationError ? error.kind : String(error));
const advice = /Please try again|choose another way/;

describe('a sign-in whose provider fails', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  const faults = new Map<string, Fault>();
  let asked = 0;
  /** The wrong answers. A connection itself may stay, and serve right ones. */
  const wrongAnswers = new Map<ServerResponse, string>();

  function answers(req: IncomingMessage, res: ServerResponse): boolean {
    const path = (req.url ?? '').split('?')[0] ?? '';
    const fault = faults.get(path);
    if (!fault) return false;
    wrongAnswers.set(res, path);
    asked += 1;
    req.resume();
    fault(res);
    return true;
  }
  beforeAll(async () => {
    providers = await startProviders({ answers });
    foyer = await startFoyer(anyBackend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '1000000' });
  });
  afterEach(() => {
    faults.clear();
    wrongAnswers.clear();
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  /** A browser that comes back from the provider, for a sign-in that is not the first one at this Foyer. */
  async function returning(kind: Kind) {
    const browser = foyer.browser();
    const address = await pressButton(browser, kind);
    return { browser, back: await answerOf(providers, kind, somebody(providers, kind), address) };
  }

  /** @returns what is wrong with the answer; undefined: it leads to a page that says what to do, and to no session */
  async function faultOf(browser: Browser, answer: Response): Promise<string | undefined> {
    if (answer.status !== 303) return `status ${answer.status}`;
    const address = locationOf(answer);
    if (new URL(address).pathname !== '/' || !ofProvider.includes(noticeOf(address) ?? '')) return address;
    const page = await browser.get(address);
    const [notice = 'no notice'] = /<div class="notice error" role="alert">.*?<\/div>/.exec(await page.text()) ?? [];
    if (page.status !== 200 || !advice.test(notice)) return `page ${page.status}: ${notice}`;
    return 'foyer_session' in (await browser.cookies()) ? 'a session' : undefined;
  }

  const expectFreed = () =>
    waitFor(() => expect([...wrongAnswers].filter(([res]) => !res.closed).map(([, path]) => path)).toEqual([]));

  const signsIn = async (kind: Kind) => {
    const answer = await comeBy(providers, foyer.browser(), kind, somebody(providers, kind));
    expect([answer.status, pathOf(foyer, answer)]).toEqual([303, expect.not.stringContaining('federation')]);
  };

  it.each(calls)(
    'However the $call call of $kind is answered, the page says what to do, and the next sign-in works',
    async ({ kind, path }) => {
      await signsIn(kind);
      const wrong: Record<string, string> = {};
      for (const [what, fault] of Object.entries(quickFaults)) {
        // The keys of a provider are known for five minutes.
        foyer.passTime(6 * 60_000);
        const { browser, back } = await returning(kind);
        wrongAnswers.clear();
        asked = 0;
        faults.set(path, fault);
        const answer = await browser.get(back, { from: 'cross-site' });
        faults.clear();
        const found = await faultOf(browser, answer);
        if (found !== undefined) wrong[what] = found;
        // No redirect is followed, and a code is not sent twice.
        if (asked !== 1) wrong[what] = `${asked} requests`;
        if (what.startsWith('never')) await expectFreed();
      }
      expect(wrong).toEqual({});
      foyer.passTime(6_000);
      await signsIn(kind);
    },
  );

  /** Each call of each provider meets each of the slow faults. Several wait at once, because each waits for ten seconds. */
  const rounds: [Exclude<Kind, 'saml'>, string, Fault][][] = [
    [
      ['google', paths.google.token, slowFaults['never answers']],
      ['facebook', paths.facebook.token, slowFaults['answers a byte at a time']],
      ['amazon', paths.amazon.token, slowFaults['never answers']],
      ['oidc', paths.oidc.token, slowFaults['answers a byte at a time']],
    ],
    [
      ['google', paths.google.profile, slowFaults['answers a byte at a time']],
      ['facebook', paths.facebook.profile, slowFaults['never answers']],
      ['amazon', paths.amazon.profile, slowFaults['answers a byte at a time']],
      ['oidc', paths.oidc.keys, slowFaults['never answers']],
    ],
  ];
  it.each(rounds.map((round, n) => [n + 1, round] as const))(
    'While no provider comes to the end of an answer, other sign-ins work; the page says in time what to do (part %i)',
    async (_part, round) => {
      foyer.passTime(6 * 60_000);
      const member = await foyer.addUser();
      const visits = await Promise.all(round.map(async ([kind]) => ({ kind, ...(await returning(kind)) })));
      for (const [, path, fault] of round) faults.set(path, fault);
      const beganMs = performance.now();
      const waiting = visits.map(async ({ kind, browser, back }) => {
        const answer = await browser.get(back, { from: 'cross-site' });
        return [kind, performance.now() - beganMs < inTimeMs, await faultOf(browser, answer)];
      });
      await waitFor(() => expect(wrongAnswers.size).toBe(round.length));
      const others = ownTime();
      expect((await foyer.browser().post('/sign-in', { username: member.email, password })).status).toBe(303);
      expect(others()).toBeLessThan(5_000);
      expect(await Promise.all(waiting)).toEqual(round.map(([kind]) => [kind, true, undefined]));
      await expectFreed();
      faults.clear();
      foyer.passTime(6_000);
      for (const [kind] of round) await signsIn(kind);
    },
    60_000,
  );

  it('However the discovery document is answered, it is used once it is right, and the last one while it is wrong', async () => {
    const wrong: Record<string, string> = {};
    const ways = async (way: Promise<unknown>) => (await way.then(() => undefined, refusalKind)) ?? 'works';
    for (const [what, fault] of Object.entries({ ...quickFaults, ...slowFaults })) {
      let nowMs = Date.now();
      const settings = settingsOf(providers.environment(), { now: () => nowMs, answerMs: 500 });
      const provider = providersBy(settings)('acme-oidc');
      faults.set(paths.oidc.discovery, fault);
      const atFirst = await ways(begin(provider));
      faults.clear();
      nowMs += 6_000;
      const right = await ways(begin(provider));
      faults.set(paths.oidc.discovery, fault);
      nowMs += 61 * 60_000;
      asked = 0;
      const later = await ways(begin(provider));
      const found = [ofProvider.includes(`federation:${atFirst}`), right, later, asked];
      if (found.join() !== 'true,works,works,1') wrong[what] = `${atFirst}: ${found.join()}`;
    }
    expect(wrong).toEqual({});
    await expectFreed();
  }, 60_000);

  it('A visitor who presses the button of a provider without its discovery document reads what to do, and gets there later', async () => {
    const other = await startFoyer(anyBackend, providers.environment());
    faults.set(paths.oidc.discovery, quickFaults['answers 200 with a page']);
    const browser = other.browser();
    expect(await faultOf(browser, await browser.post('/federation/acme-oidc'))).toBeUndefined();
    faults.clear();
    other.passTime(6_000);
    expect((await browser.post('/federation/acme-oidc')).status).toBe(200);
    await other.close();
  });
});

it('However the metadata of a SAML provider are answered, members sign in by it', async () => {
  let foyer: TestFoyer | undefined;
  let fault: Fault | undefined;
  let asked = 0;
  const now = () => foyer?.deps.now() ?? Date.now();
  const answers = (req: IncomingMessage, res: ServerResponse) => {
    if (!fault || req.url !== paths.saml.metadata) return false;
    asked += 1;
    fault(res);
    return true;
  };
  const providers = await startProviders({ now, answers });
  try {
    foyer = await startFoyer(anyBackend, { ...providers.environment(), GUESS_LIMIT_ADDRESS: '1000000' });
    for (const next of [...Object.values(quickFaults), slowFaults['never answers']]) {
      // What they wish is known for an hour.
      foyer.passTime(61 * 60_000);
      [fault, asked] = [next, 0];
      const answer = await comeBy(providers, foyer.browser(), 'saml', somebody(providers, 'saml'));
      expect([answer.status, pathOf(foyer, answer), asked]).toEqual([
        303,
        expect.not.stringContaining('federation:'),
        1,
      ]);
    }
  } finally {
    await foyer?.close();
    await providers.close();
  }
});
