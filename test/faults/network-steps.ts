import { sql } from 'kysely';
import { mainForm, openShop, type Shop } from '../billing/checkout/shop.ts';
import { password } from '../support/foyer.ts';
import { behindProxies, type ServerProxy } from '../support/proxy.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import type { Backend } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

export type Which = 'database' | 'keyValue';

/** A complete request, and the status of its success. */
export interface Act {
  good: number;
  send(signal?: AbortSignal): Promise<Response>;
}

/** How long Foyer may take until all works again. */
const recoveredMs = 10_000;
/** Connections of one pool to PostgreSQL. */
const poolSize = 10;

const wordsOf = (html: string) => html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');

/**
 * @param withinMs the longest that a visitor waits
 * @returns an answer that is right, or says what to do
 */
export async function answerOf({ good, send }: Act, withinMs: number): Promise<{ status: number; page: string }> {
  const beganMs = performance.now();
  const answer = await send();
  const text = await answer.text();
  expect(performance.now() - beganMs).toBeLessThan(withinMs);
  const { status } = answer;
  if (status === good) return { status, page: '' };
  expect([status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  if (answer.headers.get('content-type')?.includes('json')) {
    expect(JSON.parse(text)).toMatchObject({ error: 'temporarily_unavailable' });
  } else expect(wordsOf(text)).toMatch(/Please try again (shortly|in a moment)/);
  return { status, page: wordsOf(text) };
}

/** A shop whose stores are behind proxies, with a client app. */
export async function openBehindNetwork(servers: Backend) {
  const { backend, proxies } = behindProxies(servers);
  const shop: Shop = await openShop({ LOG_LEVEL: 'silent' }, {}, backend);
  const { foyer } = shop;
  const { secret, ...client } = await foyer.addClient();
  const app = await relyingParty(foyer, { ...client, secret });
  const authorization = `Basic ${Buffer.from(`${app.id}:${secret}`).toString('base64')}`;

  /** What a member is about to do when the network fails. */
  async function prepare() {
    const [other, user] = [await foyer.addUser(), await foyer.addUser()];
    await shop.saveCard(user);
    const browser = await foyer.signedIn(user);
    const { action, fields } = mainForm(await (await browser.get('/plan-purchase/12')).text());
    const begun = await app.begin();
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code: new URL(await signInFor(browser, begun, user)).searchParams.get('code') ?? '',
      redirect_uri: app.redirectUri,
      code_verifier: begun.verifier,
    });
    const visitor = foyer.browser();
    const acts = {
      page: { good: 200, send: () => browser.get('/settings') },
      signIn: { good: 303, send: () => visitor.post('/sign-in', { username: other.email, password }) },
      purchase: { good: 303, send: () => browser.post(action, fields) },
      exchange: {
        good: 200,
        send: () => fetch(`${foyer.url}/oauth2/token`, { method: 'POST', headers: { authorization }, body }),
      },
      name: {
        good: 303,
        send: () => browser.post('/settings/name', { given_name: 'Adele', family_name: user.familyName }),
      },
    } satisfies Record<string, Act>;
    return { acts, user, other, browser, visitor, paidBefore: (await shop.paidInvoices()).length };
  }

  /** Sessions of Foyer at PostgreSQL that are in the middle of something. */
  async function busySessions(): Promise<number> {
    const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`.execute(
      foyer.stores.database.db,
    );
    return rows[0]?.count ?? -1;
  }

  return {
    shop,
    prepare,
    proxy: (which: Which): ServerProxy => proxies[which](),
    /** Nothing but time passes: Foyer is not started again. */
    async recovered() {
      const { database, kv } = foyer.stores;
      // What `/readyz` knows may be a second old.
      await waitFor(() => Promise.all([database.ping(), kv.ping()]), recoveredMs);
      await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(200), recoveredMs);
    },
    async expectNoLeak() {
      await waitFor(async () => expect(await busySessions()).toBe(0));
      expect(proxies.database().connections()).toBeLessThanOrEqual(poolSize);
      // A connection that was lost would be missing here.
      const all = Array.from({ length: poolSize }, () => foyer.stores.database.ping());
      await Promise.all(all);
    },
  };
}

export type Network = Awaited<ReturnType<typeof openBehindNetwork>>;
