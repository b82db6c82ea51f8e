import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { canonicalJson, genesis, isSigned, linkEvent, signPoint, toAuditKeys } from '../../server/audit/chain.ts';
import { createRefusalCounter, maxRefusalEvents, maxRefusalsPerAddress } from '../../server/audit/refusals.ts';
import { toUserId } from '../support/ids.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('base64url');

describe('the chain of the audit trail', () => {
  it('Canonical JSON has sorted keys, no white space and no undefined property, as RFC 8785 writes it', () => {
    expect(canonicalJson({ b: [1, 'ü"\n', null], a: { d: true, c: undefined }, é: '€' })).toBe(
      '{"a":{"d":true},"b":[1,"ü\\"\\n",null],"é":"€"}',
    );
  });

  it('Canonical JSON refuses a fraction, a number without exact value, and a function', () => {
    for (const value of [0.5, Number.NaN, 2 ** 53, () => 1]) {
      expect(() => canonicalJson({ value })).toThrow(TypeError);
    }
  });

  it('The hash of an event is SHA-256 over the hash before it, its number and its body', () => {
    const first = linkEvent({ seq: 0, chainHash: genesis }, '{"a":1}');
    expect(first).toEqual({ seq: 1, chainHash: hash(`${hash('Foyer audit trail')}\n1\n{"a":1}`) });
    expect(linkEvent(first, '{}').chainHash).toBe(hash(`${first.chainHash}\n2\n{}`));
  });

  it('A checkpoint is signed by HMAC under a key that HKDF derives from the newest SECRET_KEY, and each key verifies it', () => {
    const secret = 'the newest of two secret keys of this test';
    const key = Buffer.from(hkdfSync('sha256', secret, 'foyer', 'audit trail', 32));
    const point = { seq: 7, chainHash: genesis };
    const mac = createHmac('sha256', key).update(`head\n7\n${genesis}`).digest('base64url');
    expect(signPoint(toAuditKeys([secret, 'an older one']), 'head', point)).toBe(mac);
    expect(isSigned(toAuditKeys(['a newer one', secret]), 'head', { ...point, mac })).toBe(true);
    expect(isSigned(toAuditKeys(['a newer one']), 'head', { ...point, mac })).toBe(false);
    expect(isSigned(toAuditKeys([secret]), 'start', { ...point, mac })).toBe(false);
    expect(isSigned(toAuditKeys([secret]), 'head', { ...point, seq: 6, mac })).toBe(false);
    expect(isSigned(toAuditKeys([secret]), 'head', { ...point, mac: '' })).toBe(false);
  });
});

describe('refused sign-ins of one minute', () => {
  const refuse = (user: string, ip: string) => ({
    userId: toUserId(user),
    method: 'password',
    ip,
    device: 'Firefox · Linux',
  });

  it('Attempts on one account from one address are one event with their number', () => {
    const counter = createRefusalCounter();
    for (let n = 0; n < 50; n += 1) counter.count(refuse('ada', '192.0.2.1'));
    expect(counter.take(5)).toEqual([
      {
        type: 'sign-in.refused',
        details: { method: 'password', attempts: 50 },
        subject: 'ada',
        address: '192.0.2.1',
        device: 'Firefox · Linux',
        actor: { kind: 'visitor' },
        atMs: 5,
      },
    ]);
    expect(counter.take(6)).toEqual([]);
  });

  it('One address causes a few events at most, whatever accounts it tries; the rest is one event', () => {
    const counter = createRefusalCounter();
    for (let n = 0; n < 1_000; n += 1) counter.count(refuse(`member ${n}`, '192.0.2.1'));
    counter.count(refuse('ada', '192.0.2.2'));
    const events = counter.take(5);
    expect(events).toHaveLength(maxRefusalsPerAddress + 2);
    expect(events.at(-1)).toMatchObject({ type: 'sign-in.refused-many', details: { attempts: 990 } });
    expect(events.at(-2)).toMatchObject({ subject: 'ada' });
  });

  it('Many addresses together cause a bounded number of events', () => {
    const counter = createRefusalCounter();
    for (let n = 0; n < 5_000; n += 1) counter.count(refuse(`member ${n}`, `2001:db8::${n.toString(16)}`));
    expect(counter.take(5)).toHaveLength(maxRefusalEvents + 1);
  });
});
