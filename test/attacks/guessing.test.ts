import { guessLimitsFromConfig, toRateLimits } from '../../server/module-settings.ts';
import { type PasswordHasher, PasswordQueueFullError } from '../../server/password/index.ts';
import { signInByPassword } from '../../server/sign-in/password-sign-in.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** A hasher that knows one password, counts its checks and can refuse them. */
function countingHasher() {
  const hasher: PasswordHasher & { asked: number; full: boolean } = {
    asked: 0,
    full: false,
    hash: async () => 'right',
    async verify(hash: string | null, given: string) {
      if (hasher.full) throw new PasswordQueueFullError('full');
      hasher.asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return hash !== null && given === password;
    },
  };
  return hasher;
}

/** `security.md`, rule 17: guesses of strangers lock no user out of the user's own browser. */
describe.each(backends)('guessing passwords on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = countingHasher();
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { ...production, PREVENT_USER_EXISTENCE_ERRORS: 'true', GUESS_LIMIT_OVERALL: '100000' },
      { passwords: hasher },
    );
  });
  afterAll(() => foyer?.close());

  const at = (ip: string, jar?: Visitor['jar']) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip }, jar);
  const signIn = (visitor: Visitor, username: string, given: string = password) =>
    visitor.post('/sign-in', { username, password: given });
  const addUser = () => foyer.addUser({ passwordHash: 'right' });
  async function verified<T>(act: () => Promise<T>): Promise<{ asked: number; result: T }> {
    const before = hasher.asked;
    const result = await act();
    return { asked: hasher.asked - before, result };
  }
  let network = 0;
  const network24 = () => {
    network += 1;
    return `198.${18 + (network >> 8)}.${network & 255}`;
  };

  thorough(
    'Of 10,000 guesses at one account from 10,000 addresses ten are checked, and the user still signs in at home',
    async () => {
      const user = await addUser();
      const home = at('203.0.113.7');
      expect((await signIn(home, user.email)).status).toBe(303);
      await home.post('/logout', {});

      const { config, database, kv, passwords } = foyer.deps;
      const settings = {
        database,
        kv,
        passwords,
        uniformAnswers: true,
        limits: guessLimitsFromConfig(config, toRateLimits(config, foyer.deps)),
      };
      const { asked, result } = await verified(async () => {
        const outcomes = new Map<string, number>();
        for (let round = 0; round < 100; round += 1) {
          const guesses = Array.from({ length: 100 }, (_, n) =>
            signInByPassword(
              settings,
              { username: user.email, password: `guess ${round} ${n}` },
              { ip: `100.64.${round}.${n}`, device: () => undefined, onRefused: async () => {} },
            ),
          );
          for (const outcome of await Promise.all(guesses)) {
            const kind = outcome.kind === 'refused' ? outcome.refusal.kind : outcome.kind;
            outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
          }
        }
        return outcomes;
      });
      expect(asked).toBe(10);
      expect(Object.fromEntries(result)).toEqual({ 'wrong-password': 10, 'too-many': 9_990 });
      expect((await signIn(home, user.email)).status).toBe(303);
      // Only the known-device cookie counts, so another network or a restart of the browser changes nothing.
      expect((await signIn(at('203.0.113.99', home.jar), user.email)).status).toBe(303);
      // An unknown browser learns nothing, even with the right password.
      expect((await signIn(at('203.0.113.8'), user.email)).status).toBe(429);
    },
  );

  it('Guesses sent at once bypass no limit', async () => {
    const user = await addUser();
    const [near, far] = [network24(), network24()];
    const { asked, result } = await verified(() =>
      Promise.all(Array.from({ length: 60 }, (_, n) => signIn(at(`${n % 2 ? near : far}.${n}`), user.email, 'wrong'))),
    );
    expect(asked).toBe(10);
    expect(result.filter(({ status }) => status === 429)).toHaveLength(50);
    for (const { headers } of result.filter(({ status }) => status === 429)) {
      expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    }
  });

  it('Spellings of one address or number count as one account', async () => {
    const phone = '+4915112345678';
    const user = await foyer.addUser({ passwordHash: 'right', phone, phoneVerified: true });
    const net = network24();
    const spelt = [user.email, user.email.toUpperCase(), ` ${user.email} `, `\t${user.email}`];
    const byMail = await verified(async () => {
      for (let n = 0; n < 24; n += 1) await signIn(at(`${net}.${n}`), spelt[n % spelt.length] ?? '', 'wrong');
    });
    expect(byMail.asked).toBe(10);
    const numbers = [phone, '+49 151 123 456 78', '+49(151)12345678', '+49-151-1234.5678'];
    const byPhone = await verified(async () => {
      for (let n = 0; n < 24; n += 1) await signIn(at(`${net}.${n}`), numbers[n % numbers.length] ?? '', 'wrong');
    });
    expect(byPhone.asked).toBe(10);
  });

  it('Guesses at many accounts from one address share one limit', async () => {
    const { asked } = await verified(async () => {
      for (let n = 0; n < 60; n += 1) await signIn(at('192.0.2.1'), `unknown${n}@example.com`, 'wrong');
    });
    expect(asked).toBe(50);
  });

  it('Guesses at many accounts from a subscriber’s IPv6 network share one limit, and the neighbour has its own', async () => {
    const { asked } = await verified(async () => {
      for (let n = 0; n < 60; n += 1) {
        await signIn(at(`2001:db8:0:1:${n.toString(16)}::${n.toString(16)}`), `none${n}@example.com`, 'wrong');
      }
    });
    expect(asked).toBe(50);
    expect((await signIn(at('2001:db8:0:2::1'), 'none@example.com', 'wrong')).status).toBe(400);
  });

  it('An address made up in a header by the visitor is not the one that is counted', async () => {
    const { asked } = await verified(async () => {
      for (let n = 0; n < 60; n += 1) await signIn(at(`10.0.0.${n}, 192.0.2.77`), `spoof${n}@example.com`, 'wrong');
    });
    expect(asked).toBe(50);
  });

  it('Users and strangers are answered and counted in the same way', async () => {
    const user = await addUser();
    const net = network24();
    const shown = (text: string, username: string) =>
      text
        .replaceAll(username, 'USERNAME')
        .replace(/nonce="[^"]*"/g, '')
        // The passkey challenge is new on every page.
        .replace(/challenge&quot;:&quot;[\w-]+/g, 'CHALLENGE')
        .replace(/\b\d+ minutes\b/, 'MINUTES');
    const asks = async (username: string) => {
      const answers = [];
      for (let n = 0; n < 12; n += 1) {
        const { asked, result } = await verified(() => signIn(at(`${net}.${n}`), username, 'wrong'));
        const { status, headers, text } = result;
        answers.push({ status, asked, names: Object.keys(headers).sort(), text: shown(text, username) });
      }
      return answers;
    };
    const known = await asks(user.email);
    expect(known.map(({ status, asked }) => [status, asked])).toEqual([
      ...Array.from({ length: 10 }, () => [400, 1]),
      [429, 0],
      [429, 0],
    ]);
    expect(await asks('stranger@example.com')).toEqual(known);
    const disabled = await addUser();
    await foyer.stores.database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', disabled.id).execute();
    expect(await asks(disabled.email)).toEqual(known);
    const unconfirmed = await foyer.addUser({ passwordHash: 'right', emailVerified: false });
    expect(await asks(unconfirmed.email)).toEqual(known);
    const withoutPassword = await foyer.addUser({ passwordHash: null });
    expect(await asks(withoutPassword.email)).toEqual(known);
  });

  it('A phone number that was never verified signs in to no account', async () => {
    const phone = '+491701234567';
    await foyer.addUser({ passwordHash: 'right', phone, phoneVerified: false });
    expect((await signIn(at('192.0.2.150'), phone)).status).toBe(400);
  });

  it('A known-device mark that is made up, changed or of another user is not accepted', async () => {
    const [user, mallory] = [await addUser(), await addUser()];
    const own = at('192.0.2.151');
    await signIn(own, mallory.email);
    const cookies = await own.jar.getCookies(site);
    const mark = cookies.find(({ key }) => key === '__Host-foyer_device')?.value ?? '';
    const [, device = '', signature = ''] = mark.split('.');
    const theirs = at('192.0.2.152');
    await signIn(theirs, user.email);
    const real = (await theirs.jar.getCookies(site)).find(({ key }) => key === '__Host-foyer_device')?.value ?? '';
    const [member = ''] = real.split('.');
    const net = network24();
    for (let n = 0; n < 10; n += 1) await signIn(at(`${net}.${n}`), user.email, 'wrong');
    for (const forged of [
      mark,
      `${member}.${device}.${signature}`,
      `${member}.other.${real.split('.')[2]}`,
      `${real}x`,
      `${member}..`,
      '~~~~',
      '%00',
    ]) {
      const visitor = at('192.0.2.153');
      await visitor.jar.setCookie(`__Host-foyer_device=${forged}; Path=/; Secure`, site);
      expect((await signIn(visitor, user.email)).status).toBe(429);
    }
    expect((await signIn(at('192.0.2.154', theirs.jar), user.email)).status).toBe(303);
  });

  it('A stolen known device has few guesses of its own', async () => {
    const user = await addUser();
    const home = at('192.0.2.160');
    await signIn(home, user.email);
    const { asked } = await verified(async () => {
      for (let n = 0; n < 30; n += 1) await signIn(at(`192.0.2.161`, home.jar), user.email, 'wrong');
    });
    expect(asked).toBe(20);
  });

  it('A full password queue answers 503 with Retry-After and counts no guess', async () => {
    const user = await addUser();
    const net = network24();
    hasher.full = true;
    try {
      for (let n = 0; n < 25; n += 1) {
        const { status, headers } = await signIn(at(`${net}.${n}`), user.email);
        expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
      }
    } finally {
      hasher.full = false;
    }
    expect((await signIn(at(`${net}.99`), user.email)).status).toBe(303);
  });

  it('Many sign-ins with the right password at once lock out no user', async () => {
    const user = await addUser();
    const net = network24();
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => signIn(at(`${net}.${n}`), user.email)));
    for (const { status } of answers) expect([303, 429]).toContain(status);
    expect((await signIn(at(`${net}.99`), user.email)).status).toBe(303);
  });

  it('A right password does not reset the count of the wrong ones', async () => {
    const user = await addUser();
    const net = network24();
    const { asked } = await verified(async () => {
      for (let n = 0; n < 30; n += 1) {
        // The attacker alternates with guesses at another account, from the same address.
        await signIn(at(`${net}.1`), n % 3 === 0 ? user.email : 'x@example.com', 'wrong');
      }
    });
    expect(asked).toBeLessThanOrEqual(20);
  });
});

describe.each(backends)('guessing at all users’ passwords on $name', (backend) => {
  thorough(
    'Guesses from many addresses are slowed down overall and reveal nothing, and known devices are not slowed down',
    async () => {
      const hasher = countingHasher();
      const foyer = await startFoyer(backend, { ...production, GUESS_LIMIT_OVERALL: '30' }, { passwords: hasher });
      try {
        const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
        const user = await foyer.addUser({ passwordHash: 'right' });
        const home = at('203.0.113.7');
        await home.post('/sign-in', { username: user.email, password });
        const before = hasher.asked;
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, n) =>
            at(`198.51.100.${n}`).post('/sign-in', { username: `victim${n}@example.com`, password: 'Summer2026!' }),
          ),
        );
        // Besides the limit, networks that have tried before get ten places in ten seconds.
        expect(hasher.asked - before).toBe(30 + 10);
        const locations = answers.filter(({ status }) => status === 303).map(({ headers }) => headers.location);
        expect(locations).toEqual(Array.from({ length: 10 }, () => '/sign-in/code'));
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
        expect((await home.post('/sign-in', { username: user.email, password })).status).toBe(303);
      } finally {
        await foyer.close();
      }
    },
  );
});
