import { languages } from '../../locales/index.ts';
import { classifyNumber, codeText, createOutbox, createSmsSender, listMessages } from '../../server/messages/index.ts';
import { keyedDigest } from '../../server/shared/index.ts';
import { createSecretBox } from '../../server/store/index.ts';
import { toE164 } from '../support/ids.ts';
import { limitsWith } from '../support/limits.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const key = 'a secret key that is used by tests alone';

describe('classifyNumber', () => {
  it.each([
    ['+4915112345678', { kind: 'textable', country: 'DE' }],
    ['+12015550123', { kind: 'textable', country: 'US' }],
    // These +1 numbers have another price.
    ['+18765550123', { kind: 'textable', country: 'JM' }],
    ['+4930123456', { kind: 'unreachable' }],
    ['+19005550123', { kind: 'unreachable' }],
    ['+33899123456', { kind: 'unreachable' }],
    ['+123', { kind: 'impossible' }],
    // Satellites.
    ['+88213012345', { kind: 'impossible' }],
    ['+49 151 12345678', { kind: 'impossible' }],
    ['', { kind: 'impossible' }],
  ])('The number %s is classified as textable, unreachable or impossible', async (number, expected) => {
    expect(await classifyNumber(toE164(number))).toEqual(expected);
  });
});

describe('the text of a code', () => {
  it.each(languages)(
    'The code text in %s fits one message in the default alphabet and is bound to the site',
    (lang) => {
      const text = codeText({
        code: '012345',
        minutes: 10,
        lang,
        brandName: 'Marktplatz',
        publicUrl: 'https://login.example.com',
      });
      expect(text).toMatch(/^012345 /);
      expect(text).toMatch(/ 10 [\s\S]*\n\n@login\.example\.com #012345$/);
      expect(text.length).toBeLessThanOrEqual(160);
      // 3GPP TS 23.038, the default alphabet: with any other character a message holds 70.
      expect(text).toMatch(/^[A-Za-z0-9 \n\r@£$¥èéùìòÇØøÅå_ÆæßÉ!"#¤%&'()*+,\-./:;<=>?¡ÄÖÑÜ§¿äöñüà]+$/);
    },
  );
});

describe.each(backends)('limits on the cost of text messages, $name', ({ open }) => {
  let stores: OpenStores;
  const limits = { member: 3, number: 3, address: 4, overall: 8 };
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());

  /** Counters of their own for each test: a prefix in a shared store. */
  let turn = 0;
  function setup(countries?: string[]) {
    turn += 1;
    const prefix = `t${turn}:`;
    const { database } = stores;
    const kv = {
      ...stores.kv,
      consumeCount: (name: string, ttlMs: number, by?: number) => stores.kv.consumeCount(prefix + name, ttlMs, by),
      count: (name: string) => stores.kv.count(prefix + name),
    };
    const outbox = createOutbox({ box: createSecretBox([key], 'outbox'), now: Date.now });
    const texts = createSmsSender({
      kv,
      outbox,
      countries,
      digest: keyedDigest(Buffer.alloc(32)),
      limits: limitsWith({
        SMS_LIMIT_MEMBER: limits.member,
        SMS_LIMIT_NUMBER: limits.number,
        SMS_LIMIT_ADDRESS: limits.address,
        SMS_LIMIT_OVERALL: limits.overall,
      }),
    });
    type Over = Omit<Partial<Parameters<typeof texts.send>[1]>, 'to'> & { to?: string };
    const send = ({ to = '+4915112345678', ...over }: Over = {}) =>
      database.transaction((trx) =>
        texts.send(trx, { to: toE164(to), text: 'x', member: 'ada', ip: '192.0.2.1', ...over }),
      );
    const written = async () => (await listMessages(database.db, { limit: 1_000 })).length;
    return { texts, send, written, kv };
  }
  const number = (index: number) => `+49151123456${String(index).padStart(2, '0')}`;

  it('An allowed text message is written into the outbox, and a refused one is not', async () => {
    const { send, written } = setup(['DE']);
    const before = await written();
    expect(await send()).toEqual({ sent: true });
    expect(await written()).toBe(before + 1);
    expect(await send({ to: '+12015550123' })).toEqual({ sent: false, why: 'country' });
    expect(await send({ to: '+491805123456' })).toEqual({ sent: false, why: 'country' });
    expect(await send({ to: 'no number' })).toEqual({ sent: false, why: 'country' });
    expect(await written()).toBe(before + 1);
  });

  it('Without a list of countries every country is served, but no premium number', async () => {
    const { texts } = setup();
    const reached = (...numbers: string[]) => Promise.all(numbers.map((one) => texts.canReceiveSms(toE164(one))));
    expect(await reached('+12015550123', '+18765550123', '+33612345678')).toEqual([true, true, true]);
    expect(await reached('+19005550123', '+33899123456', '+4930123456')).toEqual([false, false, false]);
  });

  it('A user gets no more text messages than the limit allows, whatever the numbers and addresses', async () => {
    const { send } = setup();
    for (let i = 0; i < limits.member; i += 1) {
      expect(await send({ to: number(i), ip: `192.0.2.${i}` })).toEqual({ sent: true });
    }
    const refused = await send({ to: number(9), ip: '192.0.2.9' });
    expect(refused).toMatchObject({ sent: false, why: 'member' });
    expect(refused).toHaveProperty('retryAfterMs', expect.any(Number));
    expect(await send({ to: number(9), ip: '192.0.2.9', member: 'grace' })).toEqual({ sent: true });
  });

  it('A number gets no more text messages than the limit allows, whatever the users', async () => {
    const { send } = setup();
    const asks = Array.from({ length: limits.number + 1 }, (_, i) => send({ member: `m${i}`, ip: `192.0.2.${i}` }));
    const answers = await Promise.all(asks);
    expect(answers.filter(({ sent }) => sent)).toHaveLength(limits.number);
    expect(answers.find(({ sent }) => !sent)).toMatchObject({ why: 'number' });
  });

  it('A network gets no more text messages than the limit allows, and an IPv6 subscriber counts as one network', async () => {
    const { send } = setup();
    for (let i = 0; i < limits.address; i += 1) {
      expect(await send({ to: number(i), member: `m${i}`, ip: `2001:db8::${i}` })).toEqual({ sent: true });
    }
    const more = { to: number(20), member: 'm20' };
    expect(await send({ ...more, ip: '2001:db8::ffff' })).toMatchObject({ sent: false, why: 'network' });
    expect(await send({ ...more, ip: '2001:db8:0:1::1', proven: true })).toMatchObject({ sent: true });
  });

  it('Unverified numbers may use half of the hourly limit, so that verified users still get their codes', async () => {
    const { send } = setup();
    const stranger = (i: number) => ({ to: number(i), member: `m${i}`, ip: `192.0.2.${i}` });
    for (let i = 0; i < limits.overall / 2; i += 1) expect(await send(stranger(i))).toEqual({ sent: true });
    expect(await send(stranger(10))).toMatchObject({ sent: false, why: 'overall' });
    for (let i = 0; i < limits.overall / 2; i += 1) {
      expect(await send({ ...stranger(20 + i), proven: true })).toEqual({ sent: true });
    }
    expect(await send({ ...stranger(30), proven: true })).toMatchObject({ sent: false, why: 'overall' });
  });

  it('A text message that one limit refuses is counted by no limit', async () => {
    const { send, kv } = setup();
    for (let i = 0; i < 20; i += 1) await send();
    expect(await kv.count('sms:overall')).toBe(limits.member);
    expect(await kv.count('sms:address:192.0.2.1')).toBe(limits.member);
    expect(await kv.count('sms:member:ada')).toBe(limits.member);
  });

  it('Of 40 requests at the same moment, no more are written than the limits allow', async () => {
    const { send, written } = setup();
    const before = await written();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => send({ to: number(i), member: `m${i}`, ip: `192.0.2.${i}`, proven: true })),
    );
    expect(answers.filter(({ sent }) => sent)).toHaveLength(limits.overall);
    expect(await written()).toBe(before + limits.overall);
  });
});
