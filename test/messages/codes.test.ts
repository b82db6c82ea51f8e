import { type Codes, createCodes } from '../../server/messages/index.ts';
import { resendWaitMs, secondsUntilResend } from '../../server/messages/one-time-codes.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const key = Buffer.alloc(32, 7);
const owner = { purpose: 'confirm-email', flow: 'flow 1', account: 'ada@example.com' } as const;
const wrongFor = (code: string, times: number) =>
  Array.from({ length: times }, (_, n) => String((Number(code) + n + 1) % 1_000_000).padStart(6, '0'));

describe.each(backends)('one-time codes on $name', (backend) => {
  let stores: OpenStores;
  let codes: Codes;
  let flows = 0;
  /** Each test has its own flow and account. */
  const fresh = () => {
    flows += 1;
    return { ...owner, flow: `flow ${flows}`, account: `ada${flows}@example.com` };
  };
  const issue = async (to: Parameters<Codes['issue']>[0]) => {
    const issued = await codes.issue(to);
    if (!issued.issued) throw new Error(`no code: ${issued.why}`);
    return issued.code;
  };

  beforeAll(async () => {
    stores = await backend.open();
    codes = createCodes({ kv: stores.kv, key });
  });
  afterAll(() => stores?.destroy());

  it('A one-time code has six digits and is right once', async () => {
    const mine = fresh();
    const code = await issue(mine);
    expect(code).toMatch(/^\d{6}$/);
    expect(await codes.check(mine, code)).toBe('correct');
    expect(await codes.check(mine, code)).toBe('invalidated');
  });

  it('A page offers another code after the wait, and at once when the clock was set back meanwhile', () => {
    const sentAtMs = 1_790_000_000_000;
    const wait = resendWaitMs / 1_000;
    const at = (laterMs: number) => secondsUntilResend(sentAtMs, sentAtMs + laterMs);
    expect([at(0), at(1_000), at(resendWaitMs), at(resendWaitMs * 9)]).toEqual([wait, wait - 1, 0, 0]);
    expect([at(-3_600_000), at(-86_400_000), secondsUntilResend(undefined, sentAtMs)]).toEqual([0, 0, 0]);
  });

  it('Attack: 50 parallel guesses of one code get 5 attempts in total', async () => {
    const mine = fresh();
    const code = await issue(mine);
    const answers = await Promise.all(wrongFor(code, 50).map((guess) => codes.check(mine, guess)));
    expect(answers.filter((answer) => answer === 'incorrect')).toHaveLength(4);
    expect(answers.filter((answer) => answer === 'invalidated')).toHaveLength(46);
    expect(await codes.check(mine, code)).toBe('invalidated');
  });

  it('Attack: 20 parallel uses of the right code succeed once', async () => {
    const mine = fresh();
    const code = await issue(mine);
    const answers = await Promise.all(Array.from({ length: 20 }, () => codes.check(mine, code)));
    expect(answers.filter((answer) => answer === 'correct')).toHaveLength(1);
  });

  it('Attack: a code is worthless for another purpose, flow or account', async () => {
    const mine = fresh();
    const code = await issue(mine);
    const others = [
      { ...mine, purpose: 'reset-password' as const },
      { ...mine, flow: 'of somebody else' },
      { ...mine, account: 'eve@example.com' },
    ];
    for (const other of others) expect(await codes.check(other, code)).not.toBe('correct');
    expect(await codes.check(mine, code)).toBe('correct');
  });

  it('Attack: guesses in another flow neither void a code nor use up its attempts', async () => {
    const mine = fresh();
    const code = await issue(mine);
    const others = { ...mine, flow: `${mine.flow}, a stranger's` };
    await issue(others);
    for (const guess of wrongFor(code, 8)) await codes.check(others, guess);
    expect(await codes.check(mine, code)).toBe('correct');
  });

  it('The next code comes after a wait and voids the one before', async () => {
    const mine = fresh();
    const first = await issue(mine);
    expect(await codes.issue(mine)).toEqual({ issued: false, why: 'too-soon', retryAfterMs: expect.any(Number) });
    await stores.kv.delete(...(await waitsOf(stores, mine)));
    const second = await issue(mine);
    if (first !== second) expect(await codes.check(mine, first)).toBe('incorrect');
    expect(await codes.check(mine, second)).toBe('correct');
  });

  it('Attack: codes of one account are counted over all flows and addresses, but a known device has its own share', async () => {
    const mine = fresh();
    for (let n = 0; n < 10; n += 1) await issue({ ...mine, flow: `${mine.flow}.${n}` });
    const refused = await codes.issue({ ...mine, flow: `${mine.flow}.last` });
    expect(refused).toEqual({ issued: false, why: 'daily-limit', retryAfterMs: expect.any(Number) });
    await issue({ ...mine, flow: `${mine.flow}.known`, device: 'device 1' });
  });

  it('Attack: the store holds no code, flow or address, and no hash from which six digits could be found', async () => {
    const seen: string[] = [];
    const spying = { ...stores.kv };
    const set = stores.kv.set.bind(stores.kv);
    const increment = stores.kv.consumeCount.bind(stores.kv);
    spying.set = async (...args) => {
      seen.push(...args.map(String));
      await set(...args);
    };
    spying.consumeCount = async (...args) => {
      seen.push(String(args[0]));
      return increment(...args);
    };
    const mine = fresh();
    const issued = await createCodes({ kv: spying, key }).issue(mine);
    if (!issued.issued) throw new Error('no code');
    const text = seen.join('\n');
    expect(seen.length).toBeGreaterThan(3);
    expect(text).not.toContain(issued.code);
    expect(text).not.toContain(mine.flow);
    expect(text).not.toContain('example.com');
    // With another key the same code does not match what is stored.
    expect(await createCodes({ kv: stores.kv, key: Buffer.alloc(32, 8) }).check(mine, issued.code)).not.toBe('correct');
  });

  it('A new code can be sent after 30 seconds', () => expect(resendWaitMs).toBe(30_000));
});

/** The key of the wait before another code, which a test deletes instead of waiting. */
async function waitsOf(_stores: OpenStores, { purpose, flow }: { purpose: string; flow: string }): Promise<string[]> {
  const { createHmac } = await import('node:crypto');
  const digest = createHmac('sha256', key).update(flow).digest('base64url').slice(0, 32);
  return [`code-wait:${purpose}:${digest}`];
}
