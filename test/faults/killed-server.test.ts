import { setTimeout as sleep } from 'node:timers/promises';
import { openDatabase } from '../../server/store/index.ts';
import { addMember, createServers, runCommand, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { profile } from '../sign-up/steps.ts';
import { Browser } from '../support/browser.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { backends, type StoreUrls } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { seededRandom } from './seeded.ts';
import { withoutSandbox } from './without-sandbox.ts';

/** `npm run test:faults` has more. */
const rounds = Number(process.env.FOYER_FAULT_SEEDS ?? 6);
/** A member has so many sessions: the sign-ins of the load are another one's. */
const otherEmail = 'grace@example.com';
const redirectUri = 'http://127.0.0.1:9/callback';

const servers = createServers();
afterAll(() => servers.end());

/** The answers that have arrived: the server has promised all of it. */
interface Acknowledged {
  name: string;
  refreshToken: string;
  signUps: string[];
  sessions: Browser[];
}

/** The name that a killed request was to write: it may have been written. */
interface Acting extends Acknowledged {
  round: number;
  isOver: boolean;
  attemptedName: string;
  /** Its answer was under way: the token before it is repeated for ten seconds, which a restart may take. */
  isRefreshing: boolean;
  requests: number;
  faults: string[];
}

async function refresh({ url }: ServerProcess, refreshToken: string): Promise<string> {
  const fields = { grant_type: 'refresh_token', client_id: 'app', refresh_token: refreshToken };
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', body: new URLSearchParams(fields) });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`refresh answered ${answer.status} ${text}`);
  return Object(JSON.parse(text)).refresh_token;
}

/** A limit of what one member may do: nothing was acknowledged. */
class Limited extends Error {}

/** The server was killed before it answered. */
const isBroken = (error: unknown): boolean => {
  const { code, cause } = Object(error) as { code?: string; cause?: unknown };
  return ['ECONNRESET', 'ECONNREFUSED', 'UND_ERR_SOCKET', 'EPIPE'].includes(code ?? '') || (!!cause && isBroken(cause));
};

interface Member {
  browser: Browser;
  password: string;
}

/** Several things at once, each again and again until the server is gone. A killed request is not sent again. */
async function act(server: ServerProcess, { browser: member, password }: Member, state: Acting): Promise<void> {
  const { round } = state;
  const again = async (what: (turn: number) => Promise<void>) => {
    for (let turn = 0; !state.isOver; turn += 1) {
      try {
        await what(turn);
        state.requests += 1;
      } catch (error) {
        if (!isBroken(error) && !(error instanceof Limited)) state.faults.push(`round ${round}: ${String(error)}`);
        return;
      }
    }
  };
  const accepted = (answer: Response, what: string) => {
    if (answer.status === 429) throw new Limited();
    if (answer.status !== 303) throw new Error(`${what} answered ${answer.status}`);
  };
  await Promise.all([
    again(async (turn) => {
      state.attemptedName = `Ada ${round} ${turn}`;
      const fields = { given_name: state.attemptedName, family_name: 'King' };
      accepted(await member.post('/settings/name', fields), 'a new name');
      state.name = state.attemptedName;
    }),
    again(async () => {
      state.isRefreshing = true;
      state.refreshToken = await refresh(server, state.refreshToken);
      state.isRefreshing = false;
      // So that most kills come between two of them.
      const next = state.requests + 8;
      while (state.requests < next && !state.isOver) await sleep(20);
    }),
    again(async (turn) => {
      const email = `new-${round}-${turn}@example.com`;
      accepted(await new Browser(server.url).post('/signup', profile(email)), 'a sign-up');
      state.signUps.push(email);
    }),
    again(async () => {
      const browser = new Browser(server.url);
      accepted(await browser.post('/sign-in', { username: otherEmail, password }), 'a sign-in');
      state.sessions = [...state.sessions.slice(-2), browser];
    }),
  ]);
}

/** Reads the database beside the server. */
async function readDatabase({ databaseUrl, dataDir }: StoreUrls) {
  const database = await openDatabase({ url: databaseUrl, dataDir });
  try {
    const { db } = database;
    const user = await db
      .selectFrom('users')
      .select('givenName')
      .where('email', '=', toNormalisedEmail('ada@example.com'))
      .executeTakeFirstOrThrow();
    const signUps = await db.selectFrom('signUps').select('email').execute();
    const mails = await db.selectFrom('outbox').select('id').where('template', '=', 'verify-email').execute();
    return { name: user.givenName, signUps: signUps.map(({ email }) => String(email)), mails: mails.length };
  } finally {
    await database.close();
  }
}

async function tokensFor(app: RelyingParty, browser: Browser, member: { email: string; password: string }) {
  const begun = await app.begin();
  const tokens = await app.redeem(await signInFor(browser, begun, member, member.password), begun);
  return tokens.refresh_token ?? '';
}

it.each(backends)(
  'A server on $name, killed at any moment under load, keeps every name, sign-up, session and token it has acknowledged',
  async ({ name, reserve }) => {
    const { urls, remove } = await reserve();
    const variables = {
      ...withoutSandbox(urls.dataDir),
      DATABASE_URL: urls.databaseUrl,
      REDIS_URL: urls.redisUrl,
      LOG_LEVEL: 'error',
      // One machine stands for many visitors here.
      SIGN_UP_LIMIT_OVERALL: '1000000',
      PASSWORD_LIMIT_DEVICE: '1000000',
      PASSWORD_LIMIT_MEMBER: '1000000',
      PASSWORD_QUEUE_ACCOUNT: '1000',
      PASSWORD_QUEUE_ADDRESS: '1000',
      GUESS_LIMIT_ACCOUNT: '1000000',
      GUESS_LIMIT_ADDRESS: '1000000',
      GUESS_LIMIT_DEVICE: '1000000',
      SIGN_UP_LIMIT_ADDRESS: '1000000',
    };
    let server = await servers.start(variables);
    await untilReady(server);
    const member = await addMember(variables);
    const words = ['--email', otherEmail, '--password', member.password, '--verified', '--accept-terms'];
    await runCommand(variables, ['user', 'add', ...words]);
    const appOptions = ['--id', 'app', '--name', 'App', '--public', '--redirect-uri', redirectUri];
    await runCommand(variables, ['client', 'add', ...appOptions]);
    const app = await relyingParty(server, { id: 'app', secret: null, redirectUri });
    const browser = new Browser(server.url);
    const state: Acting = {
      name: 'Ada',
      round: 0,
      isOver: false,
      attemptedName: 'Ada',
      isRefreshing: false,
      refreshToken: await tokensFor(app, browser, member),
      signUps: [],
      sessions: [],
      requests: 0,
      faults: [],
    };
    let refreshed = 0;
    for (let round = 1; round <= rounds; round += 1) {
      Object.assign(state, { round, isOver: false });
      const acting = act(server, { browser, password: member.password }, state);
      const random = seededRandom(round);
      const enough = state.requests + 10 + random() * 40;
      await waitFor(() => expect(state.requests).toBeGreaterThan(enough), 60_000);
      await sleep(random() * 100);
      server.signal('SIGKILL');
      expect(await server.ended).toBe('SIGKILL');
      state.isOver = true;
      await acting;
      server = await servers.start({ ...variables, PORT: String(server.port) });
      await untilReady(server);

      const stored = await readDatabase(urls);
      expect([state.name, state.attemptedName]).toContain(stored.name);
      expect(state.signUps.filter((email) => !stored.signUps.includes(email))).toEqual([]);
      expect(stored.mails).toBeGreaterThanOrEqual(state.signUps.length);
      for (const one of [browser, ...state.sessions]) expect((await one.get('/settings')).status).toBe(200);
      if (state.isRefreshing) state.refreshToken = await tokensFor(app, browser, member);
      else refreshed += 1;
      state.refreshToken = await refresh(server, state.refreshToken);
      state.isRefreshing = false;
      expect(state.faults).toEqual([]);
    }
    // Without these it proves nothing.
    expect(state.signUps.length).toBeGreaterThan(rounds);
    expect(refreshed).toBeGreaterThan(0);
    expect(state.requests).toBeGreaterThan(10 * rounds);
    server.signal('SIGKILL');
    await server.ended;
    await remove();
    console.info(`${name}: killed ${rounds} times, ${state.requests} requests were acknowledged`);
  },
  60_000 + rounds * 20_000,
);
