import { Writable } from 'node:stream';
import { loadPlans } from '../../config/plans.ts';
import { createCatalogue, createStripe, syncPlans } from '../../server/billing/index.ts';
import { createLog } from '../../server/http/index.ts';
import type { KeyValueStore } from '../../server/store/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders } from '../support/providers.ts';
import { type Route, routesOf } from '../support/routes.ts';
import { answerXml } from '../support/saml.ts';
import { anyBackend, type Backend } from '../support/stores.ts';
import { startStripe, stripeKeys } from '../support/stripe.ts';
import { type Actor, prepareActors, samlAttempt } from './actors.ts';
import { type FuzzApps, prepareApps } from './apps.ts';
import type { Field } from './mutate.ts';

export interface FuzzOperation {
  method: string;
  /** The path, with its parameters in braces. */
  path: string;
  /** The names of the parameters in the query. */
  parameters: string[];
  /** JSON schema of the body. */
  schema: unknown;
}

/** A running Foyer with everything that a request can name. */
export interface FuzzScene {
  url: string;
  host: string;
  port: number;
  foyer: TestFoyer;
  routes: Route[];
  operations: FuzzOperation[];
  actors: Actor[];
  apps: FuzzApps;
  samlMessages: string[];
  relayStates: string[];
  protocolCalls: { path: string; fields: Field[] }[];
  /** Ids that exist, of users and other records. */
  ids: string[];
  /** What the product logged at level error so far. */
  errors(): readonly string[];
  /** Signs every user in again, after all limits have run out. */
  renew(): Promise<void>;
  close(): Promise<void>;
}

interface OpenApi {
  paths: Record<
    string,
    Record<
      string,
      { parameters?: { name: string; in: string }[]; requestBody?: { content?: Record<string, { schema?: unknown }> } }
    >
  >;
}

function operationsIn({ paths }: OpenApi): FuzzOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      schema: requestBody?.content?.['application/json']?.schema,
    })),
  );
}

const fieldsOf = (values: Record<string, string>): Field[] => Object.entries(values);

function protocolCalls({
  clientId,
  redirectUri,
  accessToken,
  refreshToken,
  idToken,
}: FuzzApps): FuzzScene['protocolCalls'] {
  const authorize = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
    nonce: 'n',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    prompt: 'none',
    max_age: '10',
    ui_locales: 'de',
    display: 'popup',
    claims: '{"id_token":{"email":null}}',
    resource: 'https://api.example',
    response_mode: 'form_post',
    login_hint: 'someone@example.com',
    acr_values: 'aal2',
  };
  const code = {
    grant_type: 'authorization_code',
    code: 'c',
    redirect_uri: redirectUri,
    code_verifier: 'v'.repeat(43),
  };
  const device = 'urn:ietf:params:oauth:grant-type:device_code';
  return [
    { path: '/oauth2/authorize', fields: fieldsOf(authorize) },
    { path: '/oauth2/par', fields: fieldsOf(authorize) },
    { path: '/oauth2/token', fields: fieldsOf(code) },
    {
      path: '/oauth2/token',
      fields: fieldsOf({ grant_type: 'refresh_token', refresh_token: refreshToken, scope: 'openid' }),
    },
    { path: '/oauth2/token', fields: fieldsOf({ grant_type: 'client_credentials', scope: 'users:read' }) },
    { path: '/oauth2/token', fields: fieldsOf({ grant_type: device, device_code: 'd' }) },
    { path: '/oauth2/introspect', fields: fieldsOf({ token: accessToken, token_type_hint: 'access_token' }) },
    { path: '/oauth2/revoke', fields: fieldsOf({ token: 'x', token_type_hint: 'refresh_token' }) },
    { path: '/oauth2/device_authorization', fields: fieldsOf({ client_id: clientId, scope: 'openid' }) },
    { path: '/oauth2/device', fields: fieldsOf({ user_code: 'BCDF-GHJK', xsrf: 'x', confirm: 'yes' }) },
    { path: '/oauth2/logout', fields: fieldsOf({ id_token_hint: idToken, client_id: clientId, state: 's' }) },
    { path: '/oauth2/userInfo', fields: fieldsOf({ access_token: accessToken }) },
  ];
}

/**
 * Spreads every counter over many keys. Limits would otherwise refuse nearly all requests of one address, and nothing
 * behind them would be tried.
 */
function spreadCounters(kv: KeyValueStore): KeyValueStore {
  let turn = 0;
  const increment: KeyValueStore['consumeCount'] = (key, ttlMs, by) => {
    turn += 1;
    return kv.consumeCount(`${key}#${turn % 1_000}`, ttlMs, by);
  };
  return new Proxy(kv, {
    get(target, name) {
      if (name === 'consumeCount') return increment;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const unlimited: Backend = {
  ...anyBackend,
  async open() {
    const stores = await anyBackend.open();
    return { ...stores, kv: spreadCounters(stores.kv) };
  },
};

/** Limits high enough that the fuzzer reaches the code behind them. */
const highLimits = {
  GUESS_LIMIT_ADDRESS: '1000000',
  GUESS_LIMIT_OVERALL: '1000000',
  SIGN_UP_LIMIT_ADDRESS: '1000000',
  CARD_LIMIT_ADDRESS: '1000000',
  CARD_LIMIT_OVERALL: '1000000',
};

export async function openFuzzScene(): Promise<FuzzScene> {
  const providers = await startProviders();
  // Stripe gets mutated values; this test does not check that they fit Stripe's description.
  const clock = { now: Date.now };
  const stripe = await startStripe({ checked: false, now: () => clock.now() });
  await syncPlans(createStripe({ secretKey: stripeKeys.secretKey, apiUrl: stripe.url }), createCatalogue(loadPlans()));
  const errors: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      if (errors.length < 1_000) errors.push(String(chunk));
      done();
    },
  });
  const foyer = await startFoyer(
    unlimited,
    { ...highLimits, ...providers.environment(), ...stripe.environment() },
    { log: createLog('error', stream) },
  );
  clock.now = () => foyer.deps.now();
  const { host, port } = new URL(foyer.url);
  const document: OpenApi = await (await fetch(`${foyer.url}/openapi.json`)).json();
  const scene: FuzzScene = {
    url: foyer.url,
    host,
    port: Number(port),
    foyer,
    routes: routesOf(foyer.app.express),
    operations: operationsIn(document),
    ...(await prepare()),
    errors: () => errors,
    async renew() {
      // Codes that wait while the clock moves would expire, and Foyer would rightly log errors.
      await foyer.mails('unknown@example.com');
      foyer.passTime(25 * 60 * 60_000);
      Object.assign(scene, await prepare());
    },
    async close() {
      await foyer.close();
      await providers.close();
      await stripe.close();
    },
  };
  return scene;

  async function prepare() {
    const apps = await prepareApps(foyer);
    const actors = await prepareActors(foyer, apps);
    const attempts = [await samlAttempt(foyer), await samlAttempt(foyer)];
    const samlMessages = await Promise.all(attempts.map((attempt) => answerXml(providers, attempt)));
    const users = await foyer.stores.database.db.selectFrom('users').select('id').limit(5).execute();
    const ids = [
      ...users.map(({ id }) => id),
      apps.clientId,
      'm-99',
      '1',
      '14',
      'acme-saml',
      'acme-oidc',
      'google',
      'cus_1',
      'sub_1',
    ];
    return {
      apps,
      actors,
      samlMessages,
      ids,
      relayStates: attempts.map(({ relayState }) => relayState),
      protocolCalls: protocolCalls(apps),
    };
  }
}
