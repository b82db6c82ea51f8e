import type { User } from '../../server/users/index.ts';
import { newAddress, newPassword, profile, codeFor as signUpCodeFor } from '../sign-up/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends, keysOf } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { production, site } from './production.ts';
import { type Answer, portOf, Visitor } from './wire.ts';

const overall = 4;

/** A few visitors can fill a limit of all visitors together; it must not lock all others out. */
describe.each(backends)('attack: strangers fill the limits of all visitors, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      ...production,
      PREVENT_USER_EXISTENCE_ERRORS: 'true',
      GUESS_LIMIT_ADDRESS: '5',
      GUESS_LIMIT_OVERALL: String(overall),
      GUESS_LIMIT_ACCOUNT: '3',
      SIGN_UP_LIMIT_ADDRESS: '5',
      SIGN_UP_LIMIT_OVERALL: '2',
    });
    for (let n = 0; n < overall; n += 1) await signIn(at(`198.51.${n}.1`), `unknown${n}@example.com`, 'wrong');
  });
  afterAll(() => foyer?.close());

  let networks = 0;
  const elsewhere = () => {
    networks += 1;
    return at(`2001:db8:${networks.toString(16)}::1`);
  };
  const at = (ip: string, jar?: Visitor['jar']) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip }, jar);
  const signIn = (visitor: Visitor, username: string, given: string = password) =>
    visitor.post('/sign-in', { username, password: given });
  const show = (visitor: Visitor, code: string) => visitor.post('/sign-in/code', { code });
  const isSignedIn = async (visitor: Visitor) => (await visitor.get('/settings')).status === 200;
  const codesOf = async (user: User) =>
    (await foyer.mails(user.email))
      .filter(({ template }) => template === 'sign-in-code')
      .map(({ values }) => String(values.code));
  /** The mail leaves after the answer. */
  const codeFor = (user: User) =>
    waitFor(async () => {
      const [code = ''] = (await codesOf(user)).slice(-1);
      expect(code).toMatch(/^\d{6}$/);
      return code;
    }, 10_000);
  const shape = ({ status, headers, setCookies, text }: Answer) => ({
    status,
    location: headers.location,
    names: Object.keys(headers).sort(),
    cookies: setCookies.map((cookie) => cookie.replace(/=[^;]*/, '').replace(/Expires=[^;]*/, '')),
    // Each visitor reads when their own code was sent.
    text: text.replace(/nonce="[^"]*"/g, '').replace(/<time dateTime="[^"]*">[^<]*/g, '<time>'),
  });

  it('A right password in an unknown browser of another network signs in by a code from the mailbox', async () => {
    const user = await foyer.addUser();
    const visitor = elsewhere();
    const beganMs = Date.now();
    const answer = await signIn(visitor, user.email);
    expect([answer.status, answer.headers.location]).toEqual([303, '/sign-in/code']);
    expect(await isSignedIn(visitor)).toBe(false);
    const page = await visitor.get('/sign-in/code');
    expect([page.status, page.text.includes(user.email)]).toEqual([200, false]);
    const done = await show(visitor, await codeFor(user));
    expect(done.status).toBe(303);
    expect(await isSignedIn(visitor)).toBe(true);
    expect(Date.now() - beganMs).toBeLessThan(60_000);
    // From now on the browser is known and needs no code.
    await visitor.post('/logout', {});
    expect((await signIn(visitor, user.email)).headers.location).not.toBe('/sign-in/code');
  });

  it('A wrong password gets exactly the answer of the right one and sends no mail', async () => {
    const user = await foyer.addUser();
    const [right, wrong, none] = [elsewhere(), elsewhere(), elsewhere()];
    const answers = [
      await signIn(right, user.email),
      await signIn(wrong, user.email, 'a wrong one 7'),
      await signIn(none, 'unknown-at-all@example.com'),
    ];
    expect(shape(answers[1] as Answer)).toEqual(shape(answers[0] as Answer));
    expect(shape(answers[2] as Answer)).toEqual(shape(answers[0] as Answer));
    const code = await codeFor(user);
    const other = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    const shown = [await show(right, other), await show(wrong, other), await show(none, other)];
    expect(shown[0]?.status).toBe(400);
    expect(shape(shown[1] as Answer)).toEqual(shape(shown[0] as Answer));
    expect(shape(shown[2] as Answer)).toEqual(shape(shown[0] as Answer));
    expect(await codesOf(user)).toHaveLength(1);
    // The code belongs to the browser that sent the password.
    expect((await show(wrong, code)).status).toBe(400);
    expect(await isSignedIn(wrong)).toBe(false);
  });

  it('A refused code leaves no POST in the history, and a reload is not a guess', async () => {
    const user = await foyer.addUser();
    const visitor = elsewhere();
    await signIn(visitor, user.email);
    const code = await codeFor(user);
    const other = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
    for (const [typed, cookies] of [
      ['1', 1],
      [other, 1],
    ] as const) {
      const refused = await visitor.submit('/sign-in/code', { code: typed });
      expect([refused.status, refused.headers.location, refused.setCookies.length]).toEqual([
        303,
        '/sign-in/code',
        cookies,
      ]);
      expect((await visitor.get('/sign-in/code')).status).toBe(400);
      for (let reloads = 0; reloads < 6; reloads += 1) expect((await visitor.get('/sign-in/code')).status).toBe(200);
    }
    expect((await show(visitor, code)).status).toBe(303);
    expect(await isSignedIn(visitor)).toBe(true);
  });

  it('The number of remaining tries does not tell a right password from a wrong one', async () => {
    const tries = async (user: User, given: string) => {
      const statuses: number[] = [];
      for (let n = 0; n < 5; n += 1) statuses.push((await signIn(elsewhere(), user.email, given)).status);
      return statuses;
    };
    const [ada, ben] = [await foyer.addUser(), await foyer.addUser()];
    const [right, wrong] = await Promise.all([tries(ada, password), tries(ben, 'a wrong one 7')]);
    expect(right).toEqual([303, 303, 303, 429, 429]);
    expect(wrong).toEqual(right);
  });

  it('A sign-in code is void after five guesses, and a record changed in the store signs in to no account', async () => {
    const [user, victim] = [await foyer.addUser(), await foyer.addUser()];
    const visitor = elsewhere();
    await signIn(visitor, user.email);
    const code = await codeFor(user);
    const [key = '', ...others] = (await keysOf(foyer.stores, 'sign-in-code:')).toReversed();
    for (const each of [key, ...others]) {
      const flow = JSON.parse((await foyer.deps.kv.get(each)) ?? '{}') as { user: { id: string } | null };
      if (flow.user?.id !== user.id) continue;
      const theirs = { ...flow, user: { id: victim.id, passwordEpoch: victim.passwordEpoch } };
      await foyer.deps.kv.update(each, JSON.stringify(theirs));
    }
    expect((await show(visitor, code)).status).toBe(400);
    expect(await isSignedIn(visitor)).toBe(false);
    const own = elsewhere();
    await signIn(own, user.email);
    const second = await waitFor(async () => {
      const codes = await codesOf(user);
      expect(codes).toHaveLength(2);
      return codes[1] ?? '';
    }, 10_000);
    for (let n = 1; n <= 5; n += 1) await show(own, String((Number(second) + n) % 1_000_000).padStart(6, '0'));
    await show(own, second);
    expect(await isSignedIn(own)).toBe(false);
  });

  it('A sign-in code signs in neither a disabled user nor one whose password was changed since', async () => {
    const [disabled, changed] = [await foyer.addUser(), await foyer.addUser()];
    for (const [user, change] of [
      [disabled, { disabledAt: 1 }],
      [changed, { passwordEpoch: 7 }],
    ] as const) {
      const visitor = elsewhere();
      await signIn(visitor, user.email);
      const code = await codeFor(user);
      await foyer.stores.database.db.updateTable('users').set(change).where('id', '=', user.id).execute();
      expect((await show(visitor, code)).headers.location).toBe('/');
      expect(await isSignedIn(visitor)).toBe(false);
    }
  });

  it('Another visitor can still sign up and confirm the address while the shared limits are used up', async () => {
    for (let n = 0; n < 2; n += 1) {
      expect((await at(`198.51.${n}.2`).post('/signup', profile(newAddress()))).status).toBe(303);
    }
    const [visitor, email] = [elsewhere(), newAddress()];
    expect((await visitor.post('/signup', profile(email, { password: newPassword }))).status).toBe(303);
    const confirmed = await visitor.post('/signup/emailCaptured', { code: await signUpCodeFor(foyer, email) });
    expect(confirmed.status).toBe(303);
    expect(await isSignedIn(visitor)).toBe(true);
  });

  it('The log names each reached limit once per window', () => {
    const lines = foyer
      .logged()
      .split('\n')
      .filter((line) => line.includes('"act":"overall-limit"'))
      .map((line) => JSON.parse(line) as { limit: string; level: unknown });
    const limits = lines.map(({ limit }) => limit);
    expect(limits).toEqual([...new Set(limits)]);
    expect(limits).toEqual(expect.arrayContaining(['guess:overall', 'sign-up:overall']));
  });
});

/** One subscriber gets 65,536 networks of 64 bits at no cost. */
describe.each(backends)('attack: guesses from many addresses of one network, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, GUESS_LIMIT_ADDRESS: '2' });
  });
  afterAll(() => foyer?.close());
  async function lookedAt(addresses: readonly string[]): Promise<number> {
    let count = 0;
    for (const [n, ip] of addresses.entries()) {
      const visitor = new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
      const { status } = await visitor.post('/sign-in', { username: `none${n}@example.com`, password: 'wrong' });
      if (status !== 429) count += 1;
    }
    return count;
  }
  const times = (count: number, address: (n: number) => string) => Array.from({ length: count }, (_, n) => address(n));

  it.each([
    ['a /64 of IPv6', 2, times(4, (n) => `2001:db8:a:1::${n}`), '2001:db8:a:2::1'],
    ['a /56', 6, times(9, (n) => `2001:db8:b:10${n}::1`), '2001:db8:b:200::1'],
    ['a /48', 12, times(15, (n) => `2001:db8:c:${n}00::1`), '2001:db8:d::1'],
    ['a /24 of IPv4', 6, times(9, (n) => `198.51.100.${n}`), '198.51.101.1'],
    ['a /24 of IPv4 mapped into IPv6', 6, times(9, (n) => `::ffff:203.0.113.${n}`), '203.0.114.1'],
  ])(
    '%s has one limit: %i guesses are checked, and the neighbour has a limit of its own',
    async (_what, most, addresses, neighbour) => {
      expect(await lookedAt(addresses)).toBe(most);
      expect(await lookedAt([neighbour])).toBe(1);
    },
  );
});
