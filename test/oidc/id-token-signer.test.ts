import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { joinIntegers } from '../../server/oidc/id-token-signer.ts';

/** An integer of ASN.1 in DER (X.690, section 8.3). */
const integer = (digits: number[]) => [2, digits.length, ...digits];
const sequence = (...integers: number[][]) => Buffer.from([0x30, integers.flat().length, ...integers.flat()]);

const digits = (length: number, first: number) => [first, ...Array.from({ length: length - 1 }, (_, at) => at + 1)];
const padded = (given: number[]) => [...Array.from({ length: 32 - given.length }, () => 0), ...given];

describe('the form of a signature in a JWT', () => {
  it.each<[what: string, r: number[], s: number[]]>([
    ['both of full length', digits(32, 0x7f), digits(32, 0x01)],
    ['the first bit of both is set', digits(32, 0x80), digits(32, 0xff)],
    ['the first bit of one is set', digits(32, 0x12), digits(32, 0xff)],
    ['the first is shorter', digits(31, 0x22), digits(32, 0xff)],
    ['the second is shorter, and its first bit is set', digits(32, 0x22), digits(30, 0xff)],
    ['both are one byte', [1], [0x80]],
  ])('The integers keep their value: %s', (_, r, s) => {
    const inDer = (given: number[]) => integer((given[0] ?? 0) >= 0x80 ? [0, ...given] : given);
    expect([...joinIntegers(sequence(inDer(r), inDer(s)))]).toEqual([...padded(r), ...padded(s)]);
  });

  it('Node verifies each of 600 signatures in this form, and none of another text', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
    for (let at = 0; at < 600; at += 1) {
      const text = Buffer.from(`text ${at}`);
      const joined = joinIntegers(sign('sha256', text, privateKey));
      expect([joined.length, verify('sha256', text, key, joined)]).toEqual([64, true]);
      expect(verify('sha256', Buffer.from('another'), key, joined)).toBe(false);
    }
  });
});
