import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { SessionData } from 'express-session';
import fc from 'fast-check';
import { hostCookies } from '../../server/http/index.ts';
import {
  createSessionReader,
  createSessionStore,
  getCurrentSession,
  sessionMiddleware,
} from '../../server/sessions/index.ts';
import { sessionIdHash, sessionKey } from '../../server/sessions/session.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { send } from '../attacks/wire.ts';
import { toSessionId, toUserId } from '../support/ids.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { newSession, remembered, set, watchTimesToLive } from './stored-sessions.ts';

const hourMs = 60 * 60_000;
const lifetimes = { idleMs: 2 * hourMs, maxMs: 24 * hourMs, rememberMs: 30 * 24 * hourMs };
const cookieKeys = ['the newest key', 'the key before'];
const id = 'a'.repeat(21) + '-_'.repeat(11);

/** A cookie value as the `cookie-signature` library makes it. */
const signed = (text: string, key = 'the newest key') =>
  `s:${text}.${createHmac('sha256', key).update(text).digest('base64').replace(/=+$/, '')}`;
const inHeader = (value: string) => `foyer_session=${encodeURIComponent(value)}`;
const valid = inHeader(signed(id));

describe.each(backends)('a session that is read without express-session on $name', ({ open }) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());
  afterEach(() => {
    jest.restoreAllMocks();
  });

  function create() {
    const store = createSessionStore(stores.kv, lifetimes);
    const cookies = hostCookies(false);
    const reader = createSessionReader({ kv: stores.kv, store, cookies, cookieKeys });
    return { store, reader, load: sessionMiddleware({ store, cookies, cookieKeys }) };
  }
  type Created = ReturnType<typeof create>;

  const ofUser = (session: SessionData, userId: string): SessionData => ({
    ...session,
    user: { userId: toUserId(userId), authTimeMs: Date.now(), amr: ['pwd'], remember: false },
  });

  /** @returns the user whom each of the two finds, and whether the reader has answered */
  async function ask({ reader, load }: Created, cookie: string) {
    const app = express();
    app.get('/', async (req, res) => {
      const found = await reader.read(req);
      const read = getCurrentSession(req)?.userId;
      reader.forget(req);
      expect(getCurrentSession(req)).toBeUndefined();
      load(req, res, () => res.json({ found, read, loaded: getCurrentSession(req)?.userId }));
    });
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const { text } = await send(port, '/', { headers: { cookie } });
      return JSON.parse(text) as { found: boolean; read?: string; loaded?: string };
    } finally {
      server.close();
    }
  }

  const forms: [what: string, cookie: string, found: boolean, loaded: boolean][] = [
    ['the cookie alone', valid, true, true],
    ['the cookie between others', `a=b; ${valid}; c="d"`, true, true],
    ['the cookie signed by the key before', inHeader(signed(id, 'the key before')), true, true],
    ['a cookie that is not encoded', `foyer_session=${signed(id)}`, false, true],
    ['another cookie whose name ends the same', `x${valid}`, false, false],
    ['no cookie', 'a=b', false, false],
    ['a cookie signed by an unknown key', inHeader(signed(id, 'another key')), false, false],
    ['a cookie whose signature is of another id', inHeader(`s:${id}.${signed('other').split('.')[1]}`), false, false],
    ['a cookie without signature', inHeader(`s:${id}`), false, false],
    ['an empty signature', inHeader(`s:${id}.`), false, false],
    ['the bare id', inHeader(id), false, false],
    ['a padded signature', inHeader(`${signed(id)}=`), false, false],
    ['a signed id without a session', inHeader(signed('b'.repeat(43))), false, false],
  ];

  it.each(forms)('For %s it finds no other user than express-session', async (_, cookie, found, loaded) => {
    const created = create();
    await set(created.store, id, ofUser(newSession(), 'ada'));
    const answer = await ask(created, cookie);
    expect(answer).toEqual({
      found,
      ...(found && { read: 'ada' }),
      ...(loaded && { loaded: 'ada' }),
    });
  });

  it('Attack: of two session cookies it takes neither, so that express-session decides', async () => {
    const created = create();
    await set(created.store, id, ofUser(newSession(), 'ada'));
    await set(created.store, 'planted', ofUser(newSession(), 'eve'));
    const planted = inHeader(signed('planted'));
    for (const first of [planted, planted.replace('=', ' ='), planted.replace('=', '\t='), `a=b;\t${planted}`])
      expect(await ask(created, `${first}; ${valid}`)).toEqual({ found: false, loaded: 'eve' });
    expect(await ask(created, `${valid}; ${planted}`)).toEqual({ found: false, loaded: 'ada' });
  });

  it('Attack: of any cookies it finds no other user than express-session', async () => {
    const created = create();
    await set(created.store, id, ofUser(newSession(), 'ada'));
    await set(created.store, 'planted', ofUser(newSession(), 'eve'));
    await set(created.store, 'a.b', ofUser(newSession(), 'bob'));
    const values = [signed(id), signed('planted', 'the key before'), signed('a.b'), `s:${id}.x`, signed('none'), ''];
    const pair = fc
      .tuple(
        fc.constantFrom('', ' ', '\t', ';', '"', ' \t '),
        fc.constantFrom('foyer_session', 'Foyer_session', 'xfoyer_session', '__proto__', '__Host-foyer_session', ''),
        fc.constantFrom('=', ' =', '\t=', '= ', '=\t', '==', '', ';='),
        fc.constantFrom(...values, ...values.map(encodeURIComponent), '%', '%E0', '__proto__'),
        fc.constantFrom('', ' ', '\t', '"', '=', ', '),
      )
      .map((parts) => parts.join(''));
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(pair, fc.constant(valid)), { minLength: 1, maxLength: 4 }), async (pairs) => {
        const answer = await ask(created, pairs.join(';'));
        if (answer.found) expect(answer.read).toBe(answer.loaded);
        if (answer.found) found += 1;
      }),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(10);
  });

  it('Attack: a session that has ended is not found, and one without a user neither', async () => {
    const created = create();
    await set(created.store, id, ofUser(newSession(), 'ada'));
    expect((await ask(created, valid)).found).toBe(true);
    await stores.kv.delete(sessionKey(sessionIdHash(toSessionId(id))));
    expect(await ask(created, valid)).toEqual({ found: false });
    await set(created.store, id, newSession());
    expect(await ask(created, valid)).toEqual({ found: false });
  });

  const request = { headers: { cookie: valid } } as IncomingMessage;

  it('A use prolongs an idle session once a minute, and never a remembered one', async () => {
    const { store, reader } = create();
    await set(store, id, ofUser(newSession(), 'ada'));
    const watched = watchTimesToLive(stores.kv);
    for (let use = 0; use < 3; use += 1) expect(await reader.read(request)).toBe(true);
    expect(watched.renewed()).toEqual([expect.closeTo(lifetimes.idleMs, -3)]);
    await stores.kv.delete(sessionKey(sessionIdHash(toSessionId(id))));
    const other = create();
    await set(other.store, id, ofUser(remembered(hourMs), 'ada'));
    expect(await other.reader.read(request)).toBe(true);
    expect(watched.renewed()).toHaveLength(1);
  });

  it('While the store is away there is an error, and no visitor', async () => {
    const { reader } = create();
    jest.spyOn(stores.kv, 'get').mockRejectedValue(new StoreUnavailable('away'));
    await expect(reader.read(request)).rejects.toThrow(StoreUnavailable);
  });
});
