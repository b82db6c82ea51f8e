import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { hostCookies } from '../../server/http/index.ts';
import { createSessionStore, sessionMiddleware } from '../../server/sessions/index.ts';
import { sessionIdHash } from '../../server/sessions/session.ts';
import { deriveKey } from '../../server/store/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toSessionId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';

const hourMs = 60 * 60_000;

export interface Begun {
  browser: Browser;
  /** The name of the session in the stores. */
  idHash: string;
}

export interface Beginner {
  /** Signs a user in without a form and its limits, in a new browser. */
  begin(user: User): Promise<Begun>;
  close(): void;
}

/** A server beside Foyer that begins sessions in Foyer's own way, for tests of very many of them. */
export async function startBeginner(foyer: TestFoyer): Promise<Beginner> {
  const { kv, config } = foyer.deps;
  const cookieKeys = [deriveKey(config.SECRET_KEYS[0] ?? '', 'cookie signatures', 32).toString('base64url')];
  const lifetimes = { idleMs: hourMs, maxMs: 24 * hourMs, rememberMs: 24 * hourMs };
  const users = new Map<string, User>();
  const app = express();
  app.use(sessionMiddleware({ store: createSessionStore(kv, lifetimes), cookies: hostCookies(false), cookieKeys }));
  app.post('/:user', async (req, res) => {
    const user = users.get(req.params.user);
    if (user) await foyer.app.sessions.createSession({ req, res }, user, { amr: ['pwd'], remember: false });
    res.sendStatus(user ? 204 : 404);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    async begin(user) {
      users.set(user.id, user);
      const answer = await sendRequest(`http://127.0.0.1:${port}/${user.id}`, { method: 'POST' });
      if (answer.status !== 204) throw new Error(`no session was begun: ${answer.status}`);
      const browser = foyer.browser();
      for (const line of answer.headers.getSetCookie()) await browser.jar.setCookie(line, foyer.url);
      const cookie = decodeURIComponent((await browser.cookies()).foyer_session ?? '');
      return { browser, idHash: sessionIdHash(toSessionId(cookie.slice(2).split('.')[0] ?? '')) };
    },
    close: () => void server.close(),
  };
}

const dayMs = 24 * hourMs;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/**
 * Writes sessions straight into the store, as releases without a limit left them; each was used a second after the one before,
 * the last a minute ago. Answers their names in the stores.
 */
export async function plantSessions({ deps: { kv, now } }: TestFoyer, user: User, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomBytes(32).toString('base64url'));
  const plant = async (id: string, index: number) => {
    const usedAtMs = now() - 60_000 - (count - index) * 1000;
    const record = { cookie: {}, user: { userId: user.id, authTimeMs: usedAtMs, amr: ['pwd'], remember: false } };
    const facts = { userAgent: firefox, ip: '192.0.2.7', createdAtMs: usedAtMs, lastUsedAtMs: usedAtMs };
    await Promise.all([
      kv.set(`session:${id}`, JSON.stringify(record), dayMs),
      kv.set(`session-facts:${id}`, JSON.stringify(facts), dayMs),
      kv.addToSet(`sessions-of:${user.id}`, id, dayMs),
    ]);
  };
  for (let from = 0; from < count; from += 250) {
    await Promise.all(ids.slice(from, from + 250).map((id, at) => plant(id, from + at)));
  }
  return ids;
}
