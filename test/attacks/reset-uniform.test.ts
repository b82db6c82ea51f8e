import { newPassword } from '../password/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

interface Step {
  status: number;
  location: string | undefined;
  headers: string[];
  text: string;
  /** The work for the request, by kind. */
  work: string[];
}

/** `security.md`, rule 17. */
describe.each(backends)('a forgotten password does not reveal who is a user, on $name', (backend) => {
  let foyer: TestFoyer;
  /** The work, by kind. */
  let done: string[] = [];
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      ...production,
      PREVENT_USER_EXISTENCE_ERRORS: 'true',
      GUESS_LIMIT_ADDRESS: '1000',
    });
    count('kv', foyer.stores.kv, ['get', 'set', 'update', 'delete', 'consumeCount', 'compareAndDelete', 'takeOnce']);
    count('database', foyer.stores.database, ['transaction']);
    count('outbox', foyer.deps.outbox, ['add', 'wake']);
    count('passwords', foyer.deps.passwords, ['hash', 'verify']);
  });
  afterAll(() => foyer?.close());

  function count<O extends object>(what: string, of: O, methods: (keyof O & string)[]): void {
    for (const name of methods) {
      const original = of[name];
      if (typeof original !== 'function') throw new Error(`${what} has no ${name}`);
      of[name] = ((...given: unknown[]) => {
        done.push(`${what}.${name}`);
        return original.apply(of, given);
      }) as O[typeof name];
    }
  }
  let networks = 0;
  const visitor = () => {
    networks += 1;
    return new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': `198.51.100.${networks}` });
  };

  /** The whole reset as a stranger sees it: the answers, and the work behind them. */
  async function way(username: string) {
    const browser = visitor();
    const steps: Step[] = [];
    const step = async (act: () => ReturnType<Visitor['post']>) => {
      done = [];
      const { status, headers, text } = await act();
      const work = [...done].sort();
      steps.push({
        status,
        location: headers.location?.replace(encodeURIComponent(username), 'WHO'),
        headers: Object.keys(headers).sort(),
        text: text
          .replaceAll(username, 'WHO')
          .replaceAll(encodeURIComponent(username), 'WHO')
          .replace(/nonce="[^"]*"/g, '')
          // Every visitor may request another code in 29 or 30 seconds.
          .replace(/waitSeconds&quot;:\d+|\b\d+ s\b/g, 'SECONDS')
          .replace(/<time dateTime="[^"]*">[^<]*/g, '<time>'),
        work,
      });
    };
    const path = `/reset-password?username=${encodeURIComponent(username)}`;
    const fields = { password: newPassword, confirm: newPassword };
    await step(() => browser.post('/forgot-password', { username }));
    await step(() => browser.get(path));
    await step(() => browser.post(path, { act: 'resend' }));
    await step(() => browser.post(path, { ...fields, code: '000000' }));
    await step(() => browser.post(path, { code: '000001', password: 'short', confirm: 'short' }));
    await step(() => browser.post(path, { code: '000001', password: `${username} 77`, confirm: `${username} 77` }));
    await step(() => browser.post(path, { code: '000001', password: 'Wilhelmine 4711!', confirm: 'Wilhelmine 4711!' }));
    for (let n = 2; n < 5; n += 1) await step(() => browser.post(path, { ...fields, code: `00000${n}` }));
    return steps;
  }

  it('Users, strangers, disabled and unconfirmed users and phone numbers get the same text, status and work', async () => {
    const member = await foyer.addUser({ givenName: 'Wilhelmine' });
    const disabled = await foyer.addUser({ givenName: 'Wilhelmine' });
    const { db } = foyer.stores.database;
    await db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', disabled.id).execute();
    const unconfirmed = await foyer.addUser({ emailVerified: false, givenName: 'Wilhelmine' });
    const expected = await way(member.email);
    expect(expected.map(({ status }) => status)).toEqual([303, 200, 429, 400, 400, 400, 400, 400, 400, 400]);
    expect(expected[0]?.location).toBe('/reset-password?username=WHO');
    expect(expected[1]?.text).toContain('If there’s an account for WHO');
    expect(expected[0]?.work).toEqual(
      expect.arrayContaining(['outbox.add', 'outbox.wake', 'database.transaction', 'kv.consumeCount', 'kv.set']),
    );
    // A wrong code causes no hash.
    expect(expected.flatMap(({ work }) => work).filter((each) => each.startsWith('passwords.'))).toEqual([]);
    for (const username of ['stranger@example.com', disabled.email, unconfirmed.email]) {
      expect(await way(username)).toEqual(expected);
    }
    const phone = '+4915700011122';
    await foyer.addUser({ phone, phoneVerified: true });
    expect(await way('+4915700011133')).toEqual(await way(phone));
    expect(await foyer.mails('stranger@example.com')).toEqual([]);
    expect(await foyer.mails('nobody@example.invalid')).toEqual([]);
    expect((await foyer.mails(member.email)).length).toBe(1);
    expect(await foyer.mails(disabled.email)).toEqual([]);
  });

  it('The daily limit of reset codes is the same for a user and for a stranger', async () => {
    const member = await foyer.addUser();
    const asks = async (username: string) => {
      const statuses = [];
      for (let n = 0; n < 12; n += 1) statuses.push((await visitor().post('/forgot-password', { username })).status);
      return statuses;
    };
    expect(await asks('another.stranger@example.com')).toEqual(await asks(member.email));
  });

  it('A code that was sent to no mailbox resets no password, even when it is guessed', async () => {
    const { outbox } = foyer.deps;
    const { add } = outbox;
    const codes: unknown[] = [];
    outbox.add = (trx, message) => {
      if (message.channel === 'mail') codes.push(Reflect.get(message.values, 'code'));
      return add.call(outbox, trx, message);
    };
    const username = 'lucky.stranger@example.com';
    const browser = visitor();
    await browser.post('/forgot-password', { username });
    outbox.add = add;
    const [code] = codes;
    expect(code).toMatch(/^\d{6}$/);
    const fields = { code: String(code), password: newPassword, confirm: newPassword };
    const answer = await browser.post(`/reset-password?username=${encodeURIComponent(username)}`, fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Invalid code');
  });
});

describe.each(backends)('endless requests for codes, on $name', (backend) => {
  it('Requests for codes are limited per address and overall, but not for a known device', async () => {
    const foyer = await startFoyer(backend, { ...production, GUESS_LIMIT_ADDRESS: '5', GUESS_LIMIT_OVERALL: '12' });
    try {
      const from = (ip: string, jar?: Visitor['jar']) =>
        new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip }, jar);
      const user = await foyer.addUser();
      const home = from('203.0.113.7');
      await home.post('/sign-in', { username: user.email, password });
      const asks = (visitor: Visitor, times: number) =>
        Promise.all(
          Array.from({ length: times }, async (_, n) => {
            const username = `victim${n}.${Math.random()}@example.com`;
            const { status, headers } = await visitor.post('/forgot-password', { username });
            if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
            return status;
          }),
        );
      const one = await asks(from('198.51.100.1'), 9);
      expect(one.filter((status) => status === 429)).toHaveLength(4);
      for (const last of [2, 3, 4]) await asks(from(`198.51.100.${last}`), 5);
      expect(await asks(from('198.51.100.9'), 1)).toEqual([429]);
      expect((await home.post('/forgot-password', { username: user.email })).status).toBe(303);
    } finally {
      await foyer.close();
    }
  });
});
