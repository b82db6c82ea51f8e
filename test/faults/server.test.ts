import { setTimeout as sleep } from 'node:timers/promises';
import { clientMetadata, createClientSecret, insertClient } from '../../server/oidc/index.ts';
import { openDatabase } from '../../server/store/index.ts';
import { insertUser } from '../../server/users/index.ts';
import { createServers, type ServerProcess, untilReady } from '../journeys/server-process.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { startHonestCarrier } from './honest-carrier.ts';
import { seededRandom } from './seeded.ts';
import { withoutSandbox } from './without-sandbox.ts';

const servers = createServers();
afterAll(() => servers.end());

/** A client app and users, written beside the running server as the operator's command does. */
async function populate(dataDir: string) {
  const database = await openDatabase({ dataDir });
  try {
    const request = { id: 'mailer', name: 'Mailer', redirectUris: [], service: true, scopes: ['messages:send'] };
    const secret = createClientSecret();
    await insertClient(database.db, clientMetadata(request, { development: true }), { secret, nowMs: Date.now() });
    const emails = Array.from({ length: 6 }, (_, n) => `member${n}@example.com`);
    for (const email of emails) {
      const user = {
        email: toNormalisedEmail(email),
        givenName: 'Ada',
        familyName: 'Member',
        passwordHash: null,
        emailVerified: true,
      };
      await database.transaction((trx) => insertUser(trx, user, Date.now()));
    }
    return { authorization: `Basic ${Buffer.from(`mailer:${secret}`).toString('base64')}`, emails };
  } finally {
    await database.close();
  }
}

async function tokenOf({ url }: ServerProcess, authorization: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'messages:send' });
  const answer = await fetch(`${url}/oauth2/token`, { method: 'POST', headers: { authorization }, body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

const send = ({ url }: ServerProcess, token: string, emailAddress: string) =>
  fetch(`${url}/sentEmail`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ emailAddress, action: 'password' }),
  });

it('While the mail service hangs only mail waits, and a server that is killed meanwhile loses none', async () => {
  const carrier = await startHonestCarrier(seededRandom(3), 0);
  try {
    carrier.setHanging(true);
    const dataDir = await servers.folder();
    const variables = {
      ...withoutSandbox(dataDir),
      SENDGRID_API_KEY: 'SG.key',
      SENDGRID_URL: carrier.url,
    };
    const server = await servers.start(variables);
    await untilReady(server);
    const { authorization, emails } = await populate(dataDir);
    const token = await tokenOf(server, authorization);
    const asked = new Promise<void>((resolve) => carrier.listen((moment) => moment === 'arrived' && resolve()));
    for (const email of emails) {
      const beganMs = performance.now();
      expect((await send(server, token, email)).status).toBe(200);
      // The timeout for the mail service is 15 seconds.
      expect(performance.now() - beganMs).toBeLessThan(10_000);
    }
    // The delivery is in progress from here on.
    await asked;
    expect((await fetch(server.url)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(carrier.taken()).toEqual([]);

    server.signal('SIGKILL');
    expect(await server.ended).toBe('SIGKILL');
    carrier.setHanging(false);
    const again = await servers.start({ ...variables, PORT: String(server.port) });
    await untilReady(again);
    // The lease of the killed server has to expire, which takes ten seconds.
    for (let times = 0; times < 300 && carrier.taken().length < emails.length; times += 1) await sleep(100);
    expect(carrier.taken()).toHaveLength(emails.length);
    again.signal('SIGTERM');
    expect(await again.ended).toBe(0);

    const database = await openDatabase({ dataDir });
    const rows = await database.db.selectFrom('outbox').select(['id', 'state', 'sealedPayload']).execute();
    await database.close();
    expect(rows.map(({ id }) => id).sort()).toEqual(
      carrier
        .taken()
        .map(({ key }) => key)
        .sort(),
    );
    expect(rows.every(({ state, sealedPayload }) => state === 'delivered' && sealedPayload === null)).toBe(true);
  } finally {
    await carrier.close();
  }
}, 60_000);
