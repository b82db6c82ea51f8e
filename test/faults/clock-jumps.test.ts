import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { generate } from 'otplib';
import { createBoxes } from '../../server/deps.ts';
import { newTotpSecret, upsertTotp } from '../../server/mfa/index.ts';
import { findUserByIdentifier, setMfaPreference } from '../../server/users/index.ts';
import { createServers, runCommand, type ServerProcess } from '../journeys/server-process.ts';
import { Browser, locationOf } from '../support/browser.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { type RelyingParty, relyingParty, signInFor } from '../support/relying-party.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { startJumpingServer } from './jumping-server.ts';
import { withoutSandbox } from './without-sandbox.ts';

const [minuteMs, hourMs] = [60_000, 3_600_000];
const dayMs = 24 * hourMs;
const password = 'three blue boats 71';
const emails = {
  ada: 'ada@example.com',
  grace: 'grace@example.com',
  joan: 'joan@example.com',
  vera: 'vera@example.com',
};
const redirectUri = 'http://127.0.0.1:9/callback';

const servers = createServers();
afterAll(() => servers.end());

/** A mail service that takes all mails. */
async function startMailService() {
  const mails: { to: string; text: string }[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    if (req.method === 'GET') return void res.end('{"scopes":["mail.send"]}');
    const { personalizations, content } = JSON.parse(Buffer.concat(chunks).toString());
    mails.push({ to: personalizations[0].to[0].email, text: content[0].value });
    res.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    codeFor: (email: string) =>
      waitFor(() => {
        const code = /\b\d{6}\b/.exec(mails.findLast(({ to }) => to === email)?.text ?? '')?.[0];
        if (code === undefined) throw new Error(`no code was mailed to ${email}`);
        return code;
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface TokenAnswer {
  status: number;
  access_token?: string;
  refresh_token?: string;
  id_token?: string;
  error?: string;
}

describe.each(backends)('a server whose clock jumps, with $name', (backend) => {
  let stores: OpenStores;
  let mail: Awaited<ReturnType<typeof startMailService>>;
  let server: ServerProcess;
  let app: RelyingParty;
  let now: () => number;
  let jumpTo: (ms: number) => Promise<void>;
  const secret = newTotpSecret();

  beforeAll(async () => {
    stores = await backend.open();
    mail = await startMailService();
    const { dataDir, databaseUrl, redisUrl } = stores.urls;
    const variables: Record<string, string> = {
      ...withoutSandbox(dataDir),
      ...(databaseUrl && { DATABASE_URL: databaseUrl }),
      ...(redisUrl && { REDIS_URL: redisUrl }),
      SENDGRID_API_KEY: 'SG.key',
      SENDGRID_URL: mail.url,
      GUESS_LIMIT_ACCOUNT: '3',
    };
    for (const email of Object.values(emails)) {
      const words = ['--email', email, '--password', password, '--verified', '--accept-terms'];
      await runCommand(variables, ['user', 'add', ...words]);
    }
    const options = ['--id', 'app', '--name', 'App', '--public', '--redirect-uri', redirectUri];
    await runCommand(variables, ['client', 'add', ...options]);
    const vera = await findUserByIdentifier(stores.database.db, { email: toNormalisedEmail(emails.vera) });
    if (!vera) throw new Error('there is no Vera');
    const { mfa } = createBoxes([variables.SECRET_KEY ?? '']);
    await stores.database.transaction(async (trx) => {
      await upsertTotp(trx, mfa, { userId: vera.id, secret, lastStep: 0, createdAt: Date.now() });
      await setMfaPreference(trx, vera.id, { preference: 'totp', nowMs: Date.now() });
    });
    ({ server, now, jumpTo } = await startJumpingServer(servers, dataDir, variables));
    app = await relyingParty(server, { id: 'app', secret: null, redirectUri });
  }, 60_000);
  afterAll(async () => {
    await servers.endProcesses();
    await mail?.close();
    await stores?.destroy();
  });

  const signIn = (email: string, browser = new Browser(server.url), secretWord = password) =>
    browser.post('/sign-in', { username: email, password: secretWord });
  async function signedIn(email: string) {
    const browser = new Browser(server.url);
    expect((await signIn(email, browser)).status).toBe(303);
    return browser;
  }
  const statusOf = async (browser: Browser) => (await browser.get('/settings')).status;
  const token = async (fields: Record<string, string>): Promise<TokenAnswer> => {
    const body = new URLSearchParams({ client_id: 'app', ...fields });
    const answer = await fetch(`${server.url}/oauth2/token`, { method: 'POST', body });
    return { ...((await answer.json()) as object), status: answer.status };
  };
  const refresh = (refreshToken = '') => token({ grant_type: 'refresh_token', refresh_token: refreshToken });
  /** A whole sign-in for the app, with a code that can be sent again. */
  async function tokens(browser: Browser, email: string) {
    const begun = await app.begin();
    const back = new URL(await signInFor(browser, begun, { email }, password));
    const fields = {
      grant_type: 'authorization_code',
      code: back.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: begun.verifier,
    };
    return { fields, ...(await token(fields)) };
  }
  const userinfo = async (accessToken = '') =>
    (await fetch(`${server.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${accessToken}` } })).status;
  const keys = () => createRemoteJWKSet(new URL(app.config.serverMetadata().jwks_uri ?? ''));
  const resetWith = (browser: Browser, code: string) =>
    browser.post(`/reset-password?${new URLSearchParams({ username: emails.joan })}`, {
      code,
      password: 'a walk in the rain 4',
      confirm: 'a walk in the rain 4',
    });
  async function toChallenge() {
    const browser = new Browser(server.url);
    expect(locationOf(await signIn(emails.vera, browser))).toContain('/second-factor');
    return browser;
  }

  it('Nothing that was used works again, no member is locked out for longer, and sign-ins go on at each time', async () => {
    const browser = await signedIn(emails.ada);
    const first = await tokens(browser, emails.ada);
    const second = await refresh(first.refresh_token);
    expect(second.status).toBe(200);
    const resetting = new Browser(server.url);
    await resetting.post('/forgot-password', { username: emails.joan });
    const code = await mail.codeFor(emails.joan);
    expect((await resetWith(resetting, code)).status).toBe(303);
    const appCode = await generate({ secret, epoch: Math.floor(now() / 1_000) });
    expect((await (await toChallenge()).post('/second-factor', { code: appCode })).status).toBe(303);
    let wait = 0;
    for (let n = 0; n < 6; n += 1) {
      const { status, headers } = await signIn(emails.grace, undefined, 'a wrong password 9');
      if (status === 429) wait = Number(headers.get('retry-after')) * 1_000;
    }
    expect(wait).toBeGreaterThan(0);

    /** At any time: what was used stays used. */
    async function expectUsed() {
      const again = new Browser(server.url);
      for (const [name, value] of Object.entries(await resetting.cookies()))
        await again.jar.setCookie(`${name}=${value}`, server.url);
      expect((await resetWith(again, code)).status).not.toBe(303);
      const challenged = await toChallenge();
      await challenged.post('/second-factor', { code: appCode });
      expect(await statusOf(challenged)).toBe(303);
    }

    await jumpTo(-hourMs);
    await expectUsed();
    expect(await statusOf(browser)).toBe(200);
    expect(await statusOf(await signedIn(emails.ada))).toBe(200);
    const third = await refresh(second.refresh_token);
    expect([third.status, await userinfo(third.access_token)]).toEqual([200, 200]);
    const earlier = await tokens(new Browser(server.url), emails.ada);
    const { payload } = await jwtVerify(earlier.id_token ?? '', keys(), { currentDate: new Date(now()) });
    expect(Math.abs((payload.iat ?? 0) * 1_000 - now())).toBeLessThan(minuteMs);
    expect((payload.auth_time as number) * 1_000).toBeLessThan(now() + minuteMs);
    // A mail that is requested now comes now.
    const late = new Browser(server.url);
    await late.post('/forgot-password', { username: emails.ada });
    await mail.codeFor(emails.ada);

    await jumpTo(wait + minuteMs);
    // Redis counts by its own clock.
    if (stores.kv.kind === 'embedded') expect((await signIn(emails.grace)).status).toBe(303);
    await expectUsed();

    await jumpTo(dayMs + hourMs);
    await expectUsed();
    expect(await statusOf(browser)).toBe(303);
    expect([await userinfo(third.access_token), (await token(earlier.fields)).status]).toEqual([401, 400]);
    const fourth = await refresh(third.refresh_token);
    expect([fourth.status, await userinfo(fourth.access_token)]).toEqual([200, 200]);
    const tomorrow = await signedIn(emails.ada);
    expect(await statusOf(tomorrow)).toBe(200);
    const nextCode = await generate({ secret, epoch: Math.floor(now() / 1_000) });
    expect((await (await toChallenge()).post('/second-factor', { code: nextCode })).status).toBe(303);

    await jumpTo(0);
    await expectUsed();
    expect(await statusOf(await signedIn(emails.ada))).toBe(200);
    const fifth = await refresh(fourth.refresh_token);
    expect([fifth.status, await userinfo(fifth.access_token)]).toEqual([200, 200]);
    // A token that is used again within ten seconds of its use gets the same answer.
    await jumpTo(20_000);
    // The first token was used three times ago: its family ends, whatever the clock was meanwhile.
    expect((await refresh(first.refresh_token)).error).toBe('invalid_grant');
    expect((await refresh(fifth.refresh_token)).error).toBe('invalid_grant');
    expect(server.stderr()).not.toMatch(/unhandled|uncaught/i);
    server.signal('SIGTERM');
    expect(await server.ended).toBe(0);
  }, 60_000);
});
