import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { z } from 'zod';
import { loadConfig } from '../../config/load.ts';
import { createSandboxExtensions } from '../../sandbox/index.ts';
import { type App, createApp } from '../../server/app.ts';
import { createBoxes, createMessaging, type Deps, isSmsOffered } from '../../server/deps.ts';
import type { Extensions } from '../../server/extensions.ts';
import { createLog, loadAssets } from '../../server/http/index.ts';
import { loadLegalTexts } from '../../server/load-settings.ts';
import {
  type ClientRequest,
  clientMetadata,
  createClientSecret,
  ensureKeys,
  insertClient,
} from '../../server/oidc/index.ts';
import { createPasswordHasher, type PasswordHasher } from '../../server/password/index.ts';
import { noMetrics, toSealedText } from '../../server/shared/index.ts';
import { insertUser, type NewUser, type User } from '../../server/users/index.ts';
import { Browser, type NoticeBox, noticeBoxes } from './browser.ts';
import { clientDir } from './client-dir.ts';
import { toE164, toNormalisedEmail } from './ids.ts';
import { bothCarriers, createMailRecorder, type RecordedMail } from './mail-recorder.ts';
import { sharedKeys } from './signing-keys.ts';
import type { Backend, OpenStores } from './stores.ts';

export const password = 'correct horse 9';

interface Hashing {
  hasher: PasswordHasher;
  /** One hash for all test users: hashing is slow by design. */
  hashed: Promise<string>;
}

/** By SECRET_KEY, which affects every hash. */
const hashings = new Map<string, Hashing>();

function hashingWith(secretKeys: readonly string[]): Hashing {
  const known = hashings.get(secretKeys.join());
  if (known) return known;
  // Below the product's cost, because these passwords protect nothing (test/password/hash.test.ts).
  const cost = { memoryCost: 1_024, timeCost: 1, parallelism: 1 };
  // Many tests send many passwords at once from one address; test/attacks/password-flood.test.ts has the product's
  // shares.
  const shares = { account: 10_000, address: 10_000 };
  const hasher = createPasswordHasher({ queueMax: 10_000, waitMs: 60_000, shares, cost, secretKeys });
  const made = { hasher, hashed: hasher.hash(password, 'operator') };
  hashings.set(secretKeys.join(), made);
  return made;
}

/** A new user as tests write one: its address and number are plain texts. */
export type PlainUser = Omit<NewUser, 'email' | 'phone'> & { email: string; phone?: string | null };

export interface TestFoyer {
  /** `http://localhost:<port>`: PUBLIC_URL and issuer. */
  url: string;
  deps: Deps;
  app: App;
  /** The sandbox's extensions of the app, if it is on. */
  extensions: Extensions | undefined;
  stores: OpenStores;
  /** The whole log as one text. */
  logged(): string;
  /** A confirmed user who has accepted the terms, with `password`; tests override relevant fields. */
  addUser(user?: Partial<PlainUser>): Promise<User>;
  /** Registers a client app; returns its id and secret (null if public). */
  addClient(client?: Partial<ClientRequest>): Promise<{ id: string; secret: string | null; redirectUri: string }>;
  noticeBox: NoticeBox;
  /** A new browser: own cookies, headers like Chromium's, redirects are not followed. */
  browser(): Browser;
  /** A browser in which the user has signed in with the form. */
  signedIn(user: User): Promise<Browser>;
  /** Delivers the waiting messages, and returns all mails to this address so far, the oldest first. */
  mails(to: string): Promise<RecordedMail[]>;
  /** Delivers the waiting messages, and returns all text messages to this number so far, the oldest first. */
  texts(to: string): Promise<string[]>;
  /** Advances the product's clock (sessions' auth_time, limits of requests, grants, keys), in milliseconds. */
  passTime(ms: number): void;
  close(): Promise<void>;
}

export function listenOnFreePort(listener?: RequestListener): Promise<{ server: Server; port: number }> {
  // Clients that keep a connection (Stripe's library) must not find it closed when a test has paused for seconds.
  const server = createServer({ maxHeaderSize: 16_384, keepAliveTimeout: 120_000 }, listener);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve({ server, port: (server.address() as AddressInfo).port }));
  });
}

/** Signs a user in with the form. */
export async function signInBrowser(visitor: Browser, user: User): Promise<Browser> {
  const answer = await visitor.post('/sign-in', { username: user.email, password });
  if (answer.status !== 303) throw new Error(`sign-in answered ${answer.status}: ${await answer.text()}`);
  return visitor;
}

let members = 0;
let clients = 0;

/** A whole Foyer in this process, on a free port, with its own stores. */
export async function startFoyer(
  backend: Backend,
  environment: Record<string, string> = {},
  overrides: Partial<Deps> = {},
): Promise<TestFoyer> {
  const stores = await backend.open();
  const { server, port } = await listenOnFreePort();
  const url = `http://localhost:${port}`;
  const config = loadConfig({
    NODE_ENV: 'test',
    PORT: String(port),
    PUBLIC_URL: url,
    DATA_DIR: stores.urls.dataDir,
    SECRET_KEY: 'a secret key that is used by tests alone',
    SANDBOX: 'true',
    KEYS_REFRESH_SECONDS: '1',
    // Tests advance the product's clock by weeks, while the stores' clocks stay: sessions must not expire meanwhile.
    SESSION_MAX_HOURS: '720',
    // Many tests sign in one user repeatedly; test/attacks/password-flood.test.ts has the product's limits.
    PASSWORD_LIMIT_DEVICE: '1000000',
    PASSWORD_LIMIT_MEMBER: '1000000',
    // Many tests send many requests at once, on machines that are busy with others; test/http/overload.test.ts has the
    // product's limits.
    REQUESTS_MAX: '1000000',
    REQUESTS_DELAY_MS: '60000',
    ...environment,
  });
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const { hasher, hashed } = hashingWith(config.SECRET_KEYS);
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  const legal = loadLegalTexts(config);
  const boxes = createBoxes(config.SECRET_KEYS);
  const log = createLog('trace', stream);
  const { database, kv } = stores;
  const recorder = createMailRecorder(database, boxes.outbox);
  // The sandbox's pages show the sent messages, as they do for a new developer.
  const added = config.SANDBOX ? createSandboxExtensions({ config, kv, now }) : undefined;
  const carriers = added ? bothCarriers(recorder.carriers, added.carriers) : recorder.carriers;
  const deps: Deps = {
    config,
    log,
    database,
    kv,
    assets: loadAssets(clientDir()),
    clientDir: clientDir(),
    // Tests replace its methods.
    passwords: { ...hasher },
    boxes,
    ...createMessaging({ config, log, database, boxes, metrics: noMetrics, now, ...overrides }, carriers),
    smsOffered: isSmsOffered(config),
    legal,
    terms: legal.version,
    metrics: noMetrics,
    now,
    ...overrides,
  };
  await ensureKeys(database, boxes.keys, { nowMs: now(), makeKeys: sharedKeys });
  const app = await createApp(deps, added).catch(async (error: unknown) => {
    // Otherwise the run would wait for a server that no code can close.
    server.close();
    await stores.destroy();
    throw error;
  });
  server.on('request', app.app);

  const noticeBox: NoticeBox = {
    open: (value) =>
      z.object({ name: z.string() }).parse(JSON.parse(boxes.forms.open(toSealedText(value), 'notice'))).name,
    seal: (name) => boxes.forms.seal(JSON.stringify({ name, untilMs: now() + 60_000 }), 'notice'),
  };
  noticeBoxes.set(url, noticeBox);
  const browser = () => new Browser(url);
  /** Delivers all untried messages, including those that are delayed by up to two seconds. */
  async function deliver(): Promise<void> {
    const due = database.db.updateTable('outbox').set({ nextAttemptAt: now() });
    await due.where('state', '=', 'waiting').where('attempts', '=', 0).where('nextAttemptAt', '>', now()).execute();
    await deps.outboxWorker.turn();
  }
  return {
    url,
    deps,
    app,
    extensions: added,
    stores,
    logged: () => lines.join(''),
    async addUser({ email, phone = null, ...user } = {}) {
      members += 1;
      const passwordHash = await hashed;
      return stores.database.transaction((trx) =>
        insertUser(
          trx,
          {
            email: toNormalisedEmail(email ?? `member${members}@example.com`),
            phone: phone === null ? null : toE164(phone),
            givenName: 'Ada',
            familyName: `Member${members}`,
            passwordHash,
            emailVerified: true,
            acceptedTosVersion: deps.terms.number,
            ...user,
          },
          deps.now(),
        ),
      );
    },
    async addClient(client = {}) {
      clients += 1;
      // Another site than Foyer's.
      const redirectUri = client.redirectUris?.[0] ?? `http://127.0.0.1:9/client${clients}/callback`;
      const metadata = clientMetadata(
        { id: `client${clients}`, name: `Client ${clients}`, redirectUris: [redirectUri], ...client },
        { development: true },
      );
      const secret = metadata.token_endpoint_auth_method === 'client_secret_basic' ? createClientSecret() : null;
      await insertClient(stores.database.db, metadata, { secret, nowMs: deps.now() });
      return { id: metadata.client_id, secret, redirectUri };
    },
    noticeBox,
    browser,
    signedIn: (user) => signInBrowser(browser(), user),
    async mails(to) {
      await deliver();
      return recorder.mailsTo(to);
    },
    async texts(to) {
      await deliver();
      return recorder.sms.filter((sms) => sms.to === to).map(({ text }) => text);
    },
    passTime(ms) {
      passedMs += ms;
    },
    async close() {
      await app.stop();
      await deps.outboxWorker.stop();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await stores.destroy();
    },
  };
}

interface SignedInUser {
  foyer: TestFoyer;
  user: User;
  browser: Browser;
}

/** One Foyer for all tests of a block, and a new signed-in user for each. @param use gets them before each test */
export function eachSignedInUser(
  backend: Backend,
  environment: Record<string, string>,
  use: (setting: SignedInUser) => void,
): void {
  let foyer: TestFoyer | undefined;
  beforeAll(async () => {
    foyer = await startFoyer(backend, environment);
  });
  beforeEach(async () => {
    if (!foyer) throw new Error('Foyer has not started');
    const user = await foyer.addUser();
    use({ foyer, user, browser: await foyer.signedIn(user) });
  });
  afterAll(() => foyer?.close());
}
