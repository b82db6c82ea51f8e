import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, type Tokens, tokensFor } from '../support/relying-party.ts';
import { leftOut, type Service } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { startServers } from './own-servers.ts';

const freeze = async (service: Service) => {
  service.signal('SIGSTOP');
  await sleep(4_000);
  service.signal('SIGCONT');
};

type Servers = Awaited<ReturnType<typeof startServers>>;
const failures: [string, (servers: Servers) => Promise<void>][] = [
  ['PostgreSQL is restarted', ({ postgres }) => postgres.restart('SIGINT')],
  ['PostgreSQL is killed', ({ postgres }) => postgres.restart('SIGKILL')],
  ['PostgreSQL hangs for four seconds', ({ postgres }) => freeze(postgres)],
  ['Redis is restarted', ({ redis }) => redis.restart('SIGTERM')],
  ['Redis is killed', ({ redis }) => redis.restart('SIGKILL')],
  ['Redis hangs for four seconds', ({ redis }) => freeze(redis)],
];

interface Held {
  refreshToken: string;
  accessToken: string;
}

/** A member's browser and a client app, which go on as long as they may, and what they saw. */
function visitor({
  foyer,
  app,
  browser,
  email,
}: {
  foyer: TestFoyer;
  app: RelyingParty;
  browser: Browser;
  email: string;
}) {
  const seen: Record<string, number> = {};
  const faults: string[] = [];
  function note(what: string, answer: Response, good: number) {
    const isAway = answer.status === 503 && Number(answer.headers.get('retry-after')) > 0;
    const key = `${what} ${answer.status}`;
    seen[key] = (seen[key] ?? 0) + 1;
    if (answer.status !== good && !isAway) faults.push(`${key} ${answer.headers.get('location') ?? ''}`);
  }
  const acts = {
    settings: async () => note('settings', await browser.get('/settings'), 200),
    'sign-in': async () => note('sign-in', await foyer.browser().post('/sign-in', { username: email, password }), 303),
    async userinfo(accessToken: string) {
      const headers = { authorization: `Bearer ${accessToken}` };
      note('userinfo', await fetch(`${foyer.url}/oauth2/userInfo`, { headers }), 200);
    },
  };
  return { acts, seen, faults, app };
}

const toHeld = ({ refresh_token = '', access_token }: Tokens): Held => ({
  refreshToken: refresh_token,
  accessToken: access_token,
});

/** Refreshes as a public app does, with the newest token that was acknowledged. @throws for any other refusal than 503 */
async function refresh(app: RelyingParty, { refreshToken, accessToken }: Held): Promise<Held> {
  const { token_endpoint: endpoint = '' } = app.config.serverMetadata();
  const fields = { grant_type: 'refresh_token', client_id: app.id, refresh_token: refreshToken };
  const answer = await fetch(endpoint, { method: 'POST', body: new URLSearchParams(fields) });
  const body = (await answer.json()) as { refresh_token?: string; access_token?: string; error?: string };
  if (answer.status === 503 && body.error === 'temporarily_unavailable') return { refreshToken, accessToken };
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(body)}`);
  return { refreshToken: body.refresh_token ?? refreshToken, accessToken: body.access_token ?? '' };
}

if (leftOut('redis') || leftOut('postgres')) {
  it('Without both servers none of them can fail', () => expect(leftOut('redis') || leftOut('postgres')).toBe(true));
} else {
  describe('a store that fails while members and client apps use Foyer', () => {
    let servers: Servers;
    let foyer: TestFoyer;
    let app: RelyingParty;
    beforeAll(async () => {
      servers = await startServers();
      foyer = await startFoyer(servers.backend, { LOG_LEVEL: 'silent' });
      app = await relyingParty(foyer, await foyer.addClient({ public: true }));
    }, 60_000);
    afterAll(async () => {
      await foyer?.close();
      await servers?.stop();
    });

    it.each(failures)(
      'While %s all answers are right or 503; no member is signed out and no refresh token is lost',
      async (_what, fail) => {
        // Every sign-in is a session, and a member has so many.
        const [user, other] = [await foyer.addUser(), await foyer.addUser()];
        const browser = foyer.browser();
        let tokens = toHeld(await tokensFor(app, browser, user));
        const { foyer_session: session } = await browser.cookies();
        const { acts, seen, faults } = visitor({ foyer, app, browser, email: other.email });
        let over = false;
        const until = async (act: () => Promise<unknown>) => {
          while (!over) {
            await act().catch((error: unknown) => faults.push(String(error)));
            await sleep(20);
          }
        };
        const running = Promise.all([
          until(acts.settings),
          until(acts['sign-in']),
          until(() => acts.userinfo(tokens.accessToken)),
          until(async () => {
            tokens = await refresh(app, tokens);
          }),
        ]);
        await sleep(300);
        await fail(servers).finally(() => sleep(1_000));
        over = true;
        await running;
        expect([faults, seen]).toEqual([[], expect.objectContaining({ 'settings 200': expect.any(Number) })]);
        // All is well without a restart of Foyer.
        await waitFor(async () => expect((await browser.get('/settings')).status).toBe(200), 10_000);
        expect((await browser.cookies()).foyer_session).toBe(session);
        await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(200), 10_000);
        const renewed = await refresh(app, tokens);
        expect(renewed.accessToken).not.toBe(tokens.accessToken);
      },
      60_000,
    );

    it('After FLUSHALL members sign in again, and refresh tokens stay valid', async () => {
      const user = await foyer.addUser();
      const browser = foyer.browser();
      const tokens = toHeld(await tokensFor(app, browser, user));
      const admin = new Redis(servers.redis.url);
      await admin.flushall();
      admin.disconnect();
      const answer = await browser.get('/settings');
      expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/(\?|$)/)]);
      const headers = { authorization: `Bearer ${tokens.accessToken}` };
      expect((await fetch(`${foyer.url}/oauth2/userInfo`, { headers })).status).toBe(401);
      const renewed = await refresh(app, tokens);
      const fresh = { authorization: `Bearer ${renewed.accessToken}` };
      expect((await fetch(`${foyer.url}/oauth2/userInfo`, { headers: fresh })).status).toBe(200);
      expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
      expect((await browser.get('/settings')).status).toBe(200);
    });
  });
}
