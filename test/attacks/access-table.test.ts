import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery, isObjectType } from 'graphql';
import { sandboxAccess } from '../../sandbox/index.ts';
import {
  apiScopes,
  callAccess,
  graphqlAccess,
  memberApiScopes,
  type PageRule,
  pageAccess as productAccess,
  protocolAccess,
  toRuleName,
} from '../../server/http/index.ts';
import { setDisabled } from '../../server/users/index.ts';
import { service, signedInto } from '../api/callers.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { giveTotp } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { plansWith } from '../support/plans.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { routesOf } from '../support/routes.ts';
import { sendRequest } from '../support/send-request.ts';
import { type Backend, backends } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';

/** Every optional feature is on, so that each route exists. */
interface Whole {
  shop: Shop;
  providers: TestProviders;
}

async function startWhole(backend: Backend): Promise<Whole> {
  const providers = await startProviders();
  const limits = { GUESS_LIMIT_ADDRESS: '100000', SIGN_UP_LIMIT_ADDRESS: '100000', CARD_LIMIT_ADDRESS: '100000' };
  return {
    shop: await startShop(backend, {
      ...providers.environment(),
      SANDBOX_PORT: new URL(providers.url).port,
      ...limits,
      PLANS_FILE: plansWith({ periods: 'days', gifts: { months: [3] } }),
    }),
    providers,
  };
}

async function close({ shop, providers }: Whole): Promise<void> {
  await shop.close();
  await providers.close();
}

/** The rules of the product and of the sandbox's pages. */
const pageAccess: Readonly<Record<string, PageRule>> = { ...productAccess, ...sandboxAccess };

/** Values for the parameters of addresses; none belongs to a user. */
const parameters: Record<string, string> = { provider: 'google', planHash: 'starter-monthly', planId: '10' };
const addressOf = (pattern: string) => pattern.replace(/:(\w+)/g, (_all, name: string) => parameters[name] ?? 'x');

const has = (rule: PageRule, remark: string) => typeof rule === 'object' && remark in rule;

/** The page rules, read from the access table. */
const pages = Object.entries(pageAccess).map(([route, rule]) => {
  const [method = '', pattern = ''] = route.split(' ');
  return {
    route,
    method,
    address: addressOf(pattern),
    rule,
    name: toRuleName(rule),
    ownWay: has(rule, 'refusedBy'),
    beforeTerms: has(rule, 'beforeTerms'),
  };
});
type Page = (typeof pages)[number];

/** What becomes of a request: it is let in, or redirected. */
type Fate = 'in' | 'sign-in' | 'again' | 'terms';

const fateOf = (answer: Response): Fate => {
  const location = answer.headers.get('location');
  if (answer.status !== 303 || location === null) return 'in';
  const { pathname, searchParams } = new URL(location, 'http://localhost');
  if (pathname === '/' && searchParams.has('redirect')) return 'sign-in';
  if (pathname === '/re-authenticate') return 'again';
  return pathname === '/tos' ? 'terms' : 'in';
};

const needsMember = (name: Page['name']) => name !== 'visitor' && name !== 'flow';
const needsReady = (name: Page['name']) => needsMember(name) && name !== 'session';

/** The outcome that the rule decides for each kind of session. */
const fates: Record<string, (name: Page['name'], page: Pick<Page, 'beforeTerms'>) => Fate> = {
  'member with a new session': () => 'in',
  'member with an old session': (name) => (name === 'recent' ? 'again' : 'in'),
  'member with a session from before the second factor': (name) => (name.startsWith('recent') ? 'again' : 'in'),
  'member who must accept new terms': (name, { beforeTerms }) => (needsReady(name) && !beforeTerms ? 'terms' : 'in'),
};

describe.each(backends)('the access table on $name', (backend) => {
  let whole: Whole;
  let foyer: TestFoyer;
  beforeAll(async () => {
    whole = await startWhole(backend);
    foyer = whole.shop.foyer;
  });
  afterAll(() => whole && close(whole));

  const rowOf = (id: string) =>
    foyer.deps.database.db.selectFrom('users').selectAll().where('id', '=', toUserId(id)).executeTakeFirstOrThrow();
  const request = (browser: Browser, { method, address }: Page, headers: Record<string, string> = {}) =>
    method === 'GET' ? browser.get(address, { headers }) : browser.post(address, {}, headers);

  describe('every route, call and field', () => {
    it('Each route of the server has an access rule, and each rule has a route', () => {
      const calls = new Map(
        foyer.app.operations.flatMap(({ id, method, path, alsoAt = path }) =>
          [path, alsoAt].map((at) => [`${method.toUpperCase()} ${at.replace(/\{(\w+)\}/g, ':$1')}`, id]),
        ),
      );
      const routes = routesOf(foyer.app.express).flatMap(({ pattern, methods }) =>
        (methods.length > 0 ? methods : ['*']).map((method) => ({ pattern, route: `${method} ${pattern}` })),
      );
      expect(routes.length).toBeGreaterThan(150);
      // Answered to scripts before they call; test/attacks/api-scripts.test.ts attacks them.
      const preflights = new Set([...calls.keys()].map((route) => route.replace(/^\w+/, 'OPTIONS')));
      // Files for everyone, whose names have the hash of their content.
      const without = routes.filter(
        ({ pattern, route }) =>
          !pattern.startsWith('/assets/') &&
          ![pattern in protocolAccess, route in pageAccess, calls.has(route), preflights.has(route)].some(Boolean),
      );
      expect(without).toEqual([]);
      const there = new Set(routes.map(({ route }) => route));
      expect(Object.keys(pageAccess).filter((route) => !there.has(route))).toEqual([]);
      const patterns = new Set(routes.map(({ pattern }) => pattern));
      expect(Object.keys(protocolAccess).filter((pattern) => !patterns.has(pattern))).toEqual([]);
    });

    it('Each call of the API has the rule of the access table, and each rule of the table has a call', () => {
      for (const { id, access } of foyer.app.operations)
        expect([id, access]).toEqual([id, Reflect.get(callAccess, id)]);
      expect(foyer.app.operations.map(({ id }) => id).toSorted()).toEqual(Object.keys(callAccess).toSorted());
    });

    it('Each field of each GraphQL type has an access rule, and each rule has a field', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const answer = await browser.postJson('/graphql', { query: getIntrospectionQuery() });
      const { data } = (await answer.json()) as { data: IntrospectionQuery };
      const types = Object.values(buildClientSchema(data).getTypeMap());
      const fields = types
        .filter((type) => isObjectType(type))
        .filter(({ name }) => !name.startsWith('__'))
        .flatMap((type) => Object.keys(type.getFields()).map((field) => `${type.name}.${field}`));
      expect(fields.toSorted()).toEqual(Object.keys(graphqlAccess).toSorted());
    });
  });

  /** Callers that no page accepts as a user, whatever they send. */
  const strangers: Record<string, () => Promise<{ browser: Browser; headers?: Record<string, string> }>> = {
    visitor: async () => ({ browser: foyer.browser() }),
    'invalid token': async () => ({ browser: foyer.browser(), headers: { authorization: 'Bearer invalid' } }),
    ...Object.fromEntries(
      [...memberApiScopes.map((scope) => [scope]), [...memberApiScopes]].map((scopes) => [
        `token of a member with ${scopes.join(' ')}`,
        async () => {
          const { tokens } = await signedInto(foyer, ['openid', ...scopes].join(' '));
          return { browser: foyer.browser(), headers: { authorization: `Bearer ${tokens.access_token}` } };
        },
      ]),
    ),
    'token of a third-party app': async () => {
      const { tokens } = await signedInto(foyer, 'openid account', { thirdParty: true });
      return { browser: foyer.browser(), headers: { authorization: `Bearer ${tokens.access_token}` } };
    },
    'client app with every scope': async () => {
      const { token } = await service(foyer, apiScopes);
      return { browser: foyer.browser(), headers: { authorization: `Bearer ${token}` } };
    },
    'session of a disabled member': async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await setDisabled(foyer.deps.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
      return { browser };
    },
  };

  it.each(Object.keys(strangers))('Each page rule for members redirects this caller to sign-in: %s', async (name) => {
    const wrong: unknown[] = [];
    const make = strangers[name];
    const { browser, headers } = (await make?.()) ?? { browser: foyer.browser() };
    for (const page of pages) {
      const answer = await request(browser, page, headers);
      const fate = fateOf(answer);
      const fits = needsMember(page.name)
        ? // A page that leads on by itself gives nothing either.
          fate === 'sign-in' || (page.ownWay && answer.status >= 300)
        : fate !== 'sign-in' && fate !== 'again' && (page.name === 'visitor' || answer.status !== 200);
      if (!fits || answer.status >= 500)
        wrong.push([page.route, page.rule, answer.status, answer.headers.get('location')]);
    }
    expect(wrong).toEqual([]);
  });

  it.each(Object.keys(fates))(
    'Each page admits or redirects this session as its rule says: %s',
    async (name) => {
      const expected = fates[name];
      const wrong: unknown[] = [];
      const made: { page: Page; browser: Browser; id: string }[] = [];
      for (const page of pages) {
        const user = await foyer.addUser();
        const browser = await foyer.signedIn(user);
        if (name.includes('before the second factor')) await giveTotp(foyer, user);
        if (name.includes('new terms')) {
          const { db } = foyer.deps.database;
          await db.updateTable('users').set({ acceptedTosVersion: null }).where('id', '=', user.id).execute();
        }
        made.push({ page, browser, id: user.id });
      }
      if (name.includes('old')) foyer.passTime(11 * 60_000);
      for (const { page, browser, id } of made) {
        const before = await rowOf(id);
        const answer = await request(browser, page);
        const [fate, want] = [fateOf(answer), expected?.(page.name, page)];
        const fits =
          fate === want ||
          (page.ownWay && want !== 'in' && answer.status >= 300) ||
          // A page for visitors redirects a signed-in user to the next step.
          (!needsMember(page.name) && fate === 'terms');
        if (!fits || answer.status >= 500)
          wrong.push([page.route, page.rule, answer.status, answer.headers.get('location')]);
        // A refused request changes nothing.
        if (want !== 'in') expect([page.route, await rowOf(id)]).toEqual([page.route, before]);
      }
      expect(wrong).toEqual([]);
    },
    120_000,
  );

  const refused = 'A cross-site form post to a page is refused with the header Authorization: %s';
  async function postFromElsewhere(authorization: string): Promise<void> {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const forms = pages.filter(({ method }) => method !== 'GET');
    const before = await rowOf(user.id);
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example' },
      { origin: 'https://sibling.localhost', 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
    ];
    const fields = { decision: 'allow', given_name: 'Mallory', family_name: 'M', lang: 'de', username: user.email };
    const wrong: unknown[] = [];
    for (const { route, address } of forms) {
      for (const headers of foreign) {
        const cookie = await browser.jar.getCookieString(foyer.url);
        const answer = await sendRequest(foyer.url + address, {
          method: 'POST',
          redirect: 'manual',
          headers: { ...headers, cookie, authorization, 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(fields),
        });
        const took = answer.status !== 403 || answer.headers.getSetCookie().length > 0;
        if (took) wrong.push([authorization, route, headers, answer.status]);
      }
    }
    expect(wrong).toEqual([]);
    expect(forms.length).toBeGreaterThan(60);
    expect([await rowOf(user.id), (await browser.get('/settings')).status]).toEqual([before, 200]);
    expect(await foyer.mails(user.email)).toEqual([]);
  }
  it.each(['Bearer x'])(refused, postFromElsewhere);
  thorough.each(['bearer x', 'DPoP x', 'Basic Zm9vOmJhcg==', 'Bearer'])(refused, postFromElsewhere);
});
