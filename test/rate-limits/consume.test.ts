import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attemptMs } from '../../server/federation/attempts.ts';
import {
  consumeLimits,
  ipBuckets,
  type Limit,
  type LimitKeys,
  type LimitStore,
  rateLimits,
  toCounterKey,
  toRetrySeconds,
} from '../../server/http/index.ts';
import type { Scope } from '../../server/http/rate-limits/definition.ts';
import { specialLimits } from '../../server/http/rate-limits/special-limits.ts';
import { codeMinutes } from '../../server/messages/index.ts';
import { maxNotifications } from '../../server/messages/notification-store.ts';
import { challengeMs } from '../../server/mfa/challenges.ts';
import { limitsWith } from '../support/limits.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { type Covering, coveredBy, specialCoveredBy } from './covered-by.ts';

type Keys = LimitKeys<Scope>;

const limits: Readonly<Record<string, Limit>> = limitsWith({ OVERALL_LANE_PER_SECOND: 20 });
const rows = Object.entries(limits).flatMap(([name, { counters }]) =>
  counters.map((counter, index) => ({ name, index, key: counter.key, by: counter.by })),
);
const addressRows = rows.filter(({ by }) => by === 'address');

let tries = 0;
/** Values that no other try has, with an address in a network of its own. */
function freshKeys(): Keys {
  tries += 1;
  const value = `value ${tries}`;
  return {
    account: value,
    device: value,
    number: value,
    recipient: value,
    client: value,
    flow: value,
    code: value,
    address: `203.${tries >> 8}.${tries & 255}.7`,
  };
}

/** The keys of all counters that a try with these values touches. */
const touched = ({ counters }: Limit, keys: Keys): string[] =>
  counters.flatMap(({ by, key }) => {
    if (by === 'overall') return [key];
    if (by !== 'address') return [toCounterKey({ key }, keys[by])];
    return ipBuckets(keys.address).map(({ bucket }) => toCounterKey({ key }, bucket));
  });

describe.each(backends)('every row of the table of rate limits, on $name', (backend) => {
  let stores: OpenStores;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());

  let turn = 0;
  /** Counters of their own for each test. */
  function counting() {
    turn += 1;
    const prefix = `row ${turn} `;
    const kv: LimitStore = {
      consumeCount: (key, ttlMs, by) => stores.kv.consumeCount(prefix + key, ttlMs, by),
      setIfAbsent: (key, value, ttlMs) => stores.kv.setIfAbsent(prefix + key, value, ttlMs),
    };
    const countsOf = (keys: readonly string[]) => Promise.all(keys.map((key) => stores.kv.count(prefix + key)));
    return { kv, countsOf };
  }

  /** The limit, one counter of it, and what the operator is notified of. */
  function rowOf(name: string, index: number) {
    const reached: string[] = [];
    const all: Readonly<Record<string, Limit>> = limitsWith({ OVERALL_LANE_PER_SECOND: 20 }, (key) =>
      reached.push(key),
    );
    const limit = all[name];
    const counter = limit?.counters[index];
    if (limit === undefined || counter === undefined) throw new Error(`no row ${name} ${index}`);
    return { limit, counter, window: counter.window ?? limit.window, reached };
  }

  it.each(rows)(
    'The limit $name, counter $key, allows the last try of the maximum, refuses the next with a wait and counts it nowhere',
    async ({ name, index }) => {
      const { kv, countsOf } = counting();
      const { limit, counter, window, reached } = rowOf(name, index);
      const first = freshKeys();
      const own = counter.by === 'overall' ? counter.key : toCounterKey(counter, first[counter.by]);
      await kv.consumeCount(own, window, counter.max - 1);
      const before = await countsOf(touched(limit, first));

      const last = await consumeLimits(kv, limit, first);
      expect(last).toMatchObject({ allowed: true, slowed: false, remaining: 0 });
      expect(await countsOf(touched(limit, first))).toEqual(before.map((count) => count + 1));

      // Only the value of this counter is the same.
      const next: Keys = { ...freshKeys(), ...(counter.by !== 'overall' && { [counter.by]: first[counter.by] }) };
      const { whenFull } = counter;
      const isSlow = whenFull !== undefined && 'perSecond' in whenFull;
      if (isSlow) {
        expect(await consumeLimits(kv, limit, next)).toMatchObject({ allowed: true, slowed: true });
        expect(await countsOf([own])).toEqual([counter.max]);
        const places = Math.floor((whenFull.perSecond * specialLimits.slowLane.window) / 1000);
        await kv.consumeCount(`${specialLimits.slowLane.key}:fresh:${own}`, specialLimits.slowLane.window, places);
      }
      const counted = await countsOf(touched(limit, next));
      const refused = await consumeLimits(kv, limit, next);
      if (refused.allowed) throw new Error('it was allowed');
      expect(refused.limit).toBe(counter.by);
      expect(toRetrySeconds(refused.retryAfterMs)).toBeGreaterThanOrEqual(1);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(isSlow ? specialLimits.slowLane.window : window);
      expect(await countsOf(touched(limit, next))).toEqual(counted);
      expect(await countsOf([own])).toEqual([counter.max]);
      expect(reached).toEqual(whenFull === undefined ? [] : [own]);

      if (last.allowed) await Promise.all([last.release(), last.release()]);
      expect(await countsOf(touched(limit, first))).toEqual(before);
    },
  );

  it.each(addressRows)(
    'The limit $name, counter $key, refuses a network at its own maximum and does not count the address',
    async ({ name, index }) => {
      const { limit, counter, window } = rowOf(name, index);
      for (const address of ['198.51.100.7', '2001:db8:1:2:3::7']) {
        const { kv, countsOf } = counting();
        const [narrow, ...wider] = ipBuckets(address);
        for (const { bucket, factor } of wider) {
          const key = toCounterKey(counter, bucket);
          await kv.consumeCount(key, window, counter.max * factor);
          const refused = await consumeLimits(kv, limit, { ...freshKeys(), address });
          expect(refused).toMatchObject({ allowed: false, limit: 'address' });
          expect(await countsOf([toCounterKey(counter, narrow.bucket)])).toEqual([0]);
          await kv.consumeCount(key, window, -counter.max * factor);
        }
        expect(await consumeLimits(kv, limit, { ...freshKeys(), address })).toMatchObject({ allowed: true });
      }
    },
  );

  it('Of 40 tries at the same moment, as many are allowed as the maximum says', async () => {
    const { kv, countsOf } = counting();
    const decisions = await Promise.all(
      Array.from({ length: 40 }, () =>
        consumeLimits(kv, rateLimits.emailChangeCode, { ...freshKeys(), account: 'ida' }),
      ),
    );
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5);
    expect(await countsOf(['contact-email:member:ida'])).toEqual([5]);
  });
});

describe('the table of rate limits', () => {
  const exists = ([file, title]: Covering) => {
    const text = readFileSync(join(import.meta.dirname, '..', file), 'utf8');
    return [`'${title}'`, `"${title}"`, `\`${title}\``, `limit: '${title}'`].some((literal) => text.includes(literal));
  };

  it.each(Object.entries({ ...coveredBy, ...specialCoveredBy }))(
    'The limit %s has an existing test that reaches it over HTTP: %o',
    (_name, covering) => {
      expect(exists(covering)).toBe(true);
    },
  );

  it('The check finds a test that does not exist', () => {
    expect(exists(['attacks/guessing.test.ts', 'a title of no test'])).toBe(false);
  });

  it('A limit of guesses has the lifetime of the record that the guesses belong to', () => {
    expect(rateLimits.mfaChallengeGuess.window).toBe(challengeMs);
    expect(rateLimits.samlResponse.window).toBe(attemptMs);
    expect(rateLimits.oneTimeCodeGuess.window).toBe(codeMinutes * 60_000);
  });

  it('A user may get as many notifications a day as are stored for a user', () => {
    expect(rateLimits.notification.counters[0].max).toBe(maxNotifications);
  });

  it('Rows of the table that share a key share its scope, maximum and window', () => {
    const byKey = Map.groupBy(
      Object.values(limits).flatMap(({ window, counters }) => counters.map((counter) => ({ window, ...counter }))),
      ({ key }) => key,
    );
    // Callers and addresses of the JSON API are different values.
    const shared = [...byKey].filter(([key]) => key !== 'rate:api');
    for (const [key, counters] of shared) {
      const kinds = new Set(counters.map(({ by, max, window }) => JSON.stringify([by, max, window])));
      expect([key, kinds.size]).toEqual([key, 1]);
    }
  });
});
