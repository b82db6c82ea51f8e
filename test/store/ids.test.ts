import { createHash } from 'node:crypto';
import { randomToken, sha256 } from '../../server/shared/index.ts';
import { uuidv7 } from '../../server/store/index.ts';

describe('randomToken', () => {
  it('Attack: no token repeats or can be foreseen when the bytes that are generated at once are used up', () => {
    const tokens = Array.from({ length: 1_000 }, () => Buffer.from(randomToken(), 'base64url'));
    expect(new Set(tokens.map((token) => token.toString('hex'))).size).toBe(1_000);
    // Each byte takes most of its values.
    for (let at = 0; at < 32; at += 1) expect(new Set(tokens.map((token) => token[at])).size).toBeGreaterThan(200);
  });
});

describe('uuidv7', () => {
  it('The id has the form of RFC 9562, version 7 and variant 10', () => {
    for (let index = 0; index < 200; index += 1) {
      expect(uuidv7()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
  });

  it('The id begins with the milliseconds since the epoch, as in the example of RFC 9562, appendix A.6', () => {
    expect(uuidv7(1_645_557_742_000)).toMatch(/^017f22e2-79b0-7/);
    expect(uuidv7(0)).toMatch(/^00000000-0000-7/);
  });

  it('The ids sort by age and never repeat', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => uuidv7(1_700_000_000_000 + index));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(Array.from({ length: 5000 }, () => uuidv7(1))).size).toBe(5000);
  });

  it('Ids of one millisecond sort by their creation, and no two runs begin with the same number', () => {
    const ids = Array.from({ length: 2000 }, () => uuidv7(1_700_000_000_000));
    expect(ids.toSorted()).toEqual(ids);
    const begins = Array.from({ length: 50 }, (_, ms) => uuidv7(1_700_000_001_000 + ms).slice(15, 18));
    expect(new Set(begins).size).toBeGreaterThan(25);
  });
});

describe('sha256', () => {
  it('The hash is SHA-256 in base64url without padding', () => {
    // FIPS 180-2, appendix B.1: the digest of "abc".
    expect(Buffer.from(sha256('abc'), 'base64url').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(sha256('ü')).toBe(createHash('sha256').update('ü', 'utf8').digest('base64url'));
    expect(sha256('x')).toHaveLength(43);
  });
});
