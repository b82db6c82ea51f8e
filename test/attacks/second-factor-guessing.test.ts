import type { Request, Response } from 'express';
import { hostCookies } from '../../server/http/index.ts';
import { createCodes, createSmsSender } from '../../server/messages/index.ts';
import { createMfa, type Mfa, verifyChallenge } from '../../server/mfa/index.ts';
import { toRateLimits } from '../../server/module-settings.ts';
import { keyedDigest } from '../../server/shared/index.ts';
import { deriveKey, type SecretBox } from '../../server/store/index.ts';
import type { User } from '../../server/users/index.ts';
import { appCode, giveRecoveryCodes, memberWithTotp, otherThan, stepMs } from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toFlowId } from '../support/ids.ts';
import { limitsWith } from '../support/limits.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** The MFA module with a secret box that counts its openings: one for every checked code. */
function createCountingMfa({ deps }: TestFoyer) {
  const { config, boxes, outbox, kv } = deps;
  const opened = { count: 0 };
  const mfaBox: SecretBox = {
    seal: boxes.mfa.seal,
    open(...sealed) {
      if (sealed[1]?.startsWith('totp_authenticators')) opened.count += 1;
      return boxes.mfa.open(...sealed);
    },
  };
  const limits = toRateLimits({ ...config, GUESS_LIMIT_OVERALL: 1_000_000 }, deps);
  const mfa = createMfa({
    ...deps,
    mfaBox,
    cookies: hostCookies(true),
    codes: createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) }),
    texts: createSmsSender({
      kv,
      outbox,
      digest: keyedDigest(Buffer.alloc(32)),
      limits: limitsWith({ SMS_LIMIT_ADDRESS: 10, SMS_LIMIT_OVERALL: 100 }),
    }),
    limits,
    publicUrl: config.PUBLIC_URL,
    brandName: config.BRAND_NAME,
    rememberDays: 30,
  });
  return { mfa, opened };
}

/** Starts challenges, as sign-ins with the right password do. */
async function newChallenge({ challenges }: Mfa, user: User): Promise<string> {
  const id = challenges.newId();
  const request = { headers: {} } as Request;
  const response = { appendHeader: () => {} } as unknown as Response;
  const { id: userId, passwordEpoch } = user;
  const common = { amr: ['pwd'], remember: false, continuation: '', method: 'totp', intent: 'sign-in' } as const;
  await challenges.begin({ req: request, res: response }, id, { ...common, amr: ['pwd'], userId, passwordEpoch });
  return id;
}

const from = (ip: string, device?: string) => ({ ip, userAgent: 'guesser', lang: 'en', device }) as const;

describe.each(backends)('guessing second factors on $name', (backend) => {
  let foyer: TestFoyer;
  let mfa: Mfa;
  let opened: { count: number };
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, GUESS_LIMIT_OVERALL: '100000' });
    ({ mfa, opened } = createCountingMfa(foyer));
  });
  afterAll(async () => {
    await mfa?.stop();
    await foyer?.close();
  });

  it('Of 10,000 codes over 1,000 challenges from 10,000 addresses fewer than 50 are checked (brute force)', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const right = await appCode(foyer, secret);
    const outcomes = new Map<string, number>();
    const before = opened.count;
    for (let round = 0; round < 100; round += 1) {
      const ids = await Promise.all(Array.from({ length: 10 }, () => newChallenge(mfa, user)));
      const guesses = ids.flatMap((id, n) =>
        Array.from({ length: 10 }, (_, nth) => {
          // Every third challenge comes from a browser that signed in before the second factor was set up.
          const device = (n + nth) % 3 === 0 ? `device ${round} ${n}` : undefined;
          const typed = otherThan(right, 1_000 + round * 100 + n * 10 + nth);
          return verifyChallenge(mfa, toFlowId(id), {
            method: 'totp',
            typed,
            from: from(`100.${64 + n}.${round}.${nth}`, device),
          });
        }),
      );
      for (const { kind } of await Promise.all(guesses)) outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
    }
    const checked = opened.count - before;
    expect(checked).toBeGreaterThan(20);
    expect(checked).toBeLessThan(50);
    expect([...outcomes.values()].reduce((sum, count) => sum + count, 0)).toBe(10_000);
    expect(outcomes.get('passed')).toBeUndefined();
    // The right code comes too late for strangers, and the user gets one mail.
    const late = await verifyChallenge(mfa, toFlowId(await newChallenge(mfa, user)), {
      method: 'totp',
      typed: right,
      from: from('100.80.0.1'),
    });
    expect(late.kind).toBe('too-many');
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'second-factor-guessed');
    expect(mails).toHaveLength(1);
    // A recovery code does not count as a guess of a code.
    const [code = ''] = await giveRecoveryCodes(foyer, user);
    const saved = await verifyChallenge(mfa, toFlowId(await newChallenge(mfa, user)), {
      method: 'recovery',
      typed: code,
      from: from('100.80.0.2'),
    });
    expect(saved.kind).toBe('passed');
  });

  it('Strangers who have the password do not lock the user out of the own browser', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const visitor = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
    const signIn = async (browser: Visitor) => {
      foyer.passTime(stepMs);
      const first = await browser.post('/sign-in', { username: user.email, password });
      expect(first.headers.location).toBe('/second-factor');
      return browser.post('/second-factor', { code: await appCode(foyer, secret) });
    };
    const home = visitor('203.0.113.7');
    expect((await signIn(home)).status).toBe(303);
    await home.post('/logout', {});
    for (let n = 0; n < 25; n += 1) {
      const typed = otherThan(await appCode(foyer, secret), 1_000 + n);
      await verifyChallenge(mfa, toFlowId(await newChallenge(mfa, user)), {
        method: 'totp',
        typed,
        from: from(`100.90.0.${n}`),
      });
    }
    expect((await signIn(home)).status).toBe(303);
    const refused = await signIn(visitor('203.0.113.8'));
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('or use a recovery code');
  });

  it('One network is limited over all users, and right codes do not count', async () => {
    const kinds: string[] = [];
    for (let member = 0; member < 4; member += 1) {
      const { user, secret } = await memberWithTotp(foyer);
      const typed = otherThan(await appCode(foyer, secret), 1_000);
      for (let n = 0; n < 15; n += 1) {
        const passed = await verifyChallenge(mfa, toFlowId(await newChallenge(mfa, user)), {
          method: 'totp',
          typed,
          from: from('198.51.100.9'),
        });
        kinds.push(passed.kind);
      }
    }
    expect(new Set(kinds.slice(0, 50))).toEqual(new Set(['incorrect']));
    expect(new Set(kinds.slice(50))).toEqual(new Set(['too-many']));
    const { user, secret } = await memberWithTotp(foyer);
    for (let n = 0; n < 30; n += 1) {
      foyer.passTime(stepMs);
      const typed = await appCode(foyer, secret);
      const passed = await verifyChallenge(mfa, toFlowId(await newChallenge(mfa, user)), {
        method: 'totp',
        typed,
        from: from('198.51.100.10'),
      });
      expect(passed.kind).toBe('passed');
    }
  });
});
