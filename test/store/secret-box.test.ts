import { cachingSecretBox, createSecretBox, deriveKey, UnsealError } from '../../server/store/index.ts';
import { toSealedText } from '../support/ids.ts';

const OLD_KEY = 'an old secret key of enough length';
const NEW_KEY = 'a new secret key of enough length!';

describe('secret box', () => {
  const box = createSecretBox([NEW_KEY, OLD_KEY], 'totp');

  it.each(['', 'x', 'JBSWY3DPEHPK3PXP', '{"kty":"EC","d":"…"}', '東京 👩‍🚀', 'x'.repeat(100_000)])(
    'A secret box opens what it sealed',
    (plain) => {
      expect(box.open(box.seal(plain))).toBe(plain);
      expect(box.open(box.seal(plain, 'users/1'), 'users/1')).toBe(plain);
    },
  );

  it('A secret box never seals the same text the same way twice and never shows it', () => {
    const sealed = new Set(Array.from({ length: 2000 }, () => box.seal('the very same secret')));
    expect(sealed.size).toBe(2000);
    // Initialisation vectors must never repeat.
    const ivs = new Set(
      [...sealed].map((text) => Buffer.from(text.split('.')[1] ?? '', 'base64url').toString('hex', 0, 12)),
    );
    expect(ivs.size).toBe(2000);
    for (const text of sealed) expect(text).not.toContain('secret');
  });

  it('A secret box opens what an older key sealed, seals with the first key and distinguishes the keys by id', () => {
    const old = createSecretBox([OLD_KEY], 'totp');
    const fresh = createSecretBox([NEW_KEY], 'totp');
    expect(box.open(old.seal('secret'))).toBe('secret');
    expect(fresh.open(box.seal('secret'))).toBe('secret');
    expect(() => old.open(box.seal('secret'))).toThrow(UnsealError);
    expect(box.seal('a').split('.')[0]).toBe(fresh.seal('b').split('.')[0]);
    expect(box.seal('a').split('.')[0]).not.toBe(old.seal('a').split('.')[0]);
  });

  it('Attack: a sealed value moved to another row or another purpose does not open', () => {
    const sealed = box.seal('secret', 'users/1');
    expect(() => box.open(sealed, 'users/2')).toThrow(UnsealError);
    expect(() => box.open(sealed)).toThrow(UnsealError);
    expect(() => createSecretBox([NEW_KEY], 'signing key').open(sealed, 'users/1')).toThrow(UnsealError);
  });

  it('Attack: a sealed value with a changed byte does not open', () => {
    const [id, body = ''] = box.seal('secret').split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      expect(() => box.open(toSealedText(`${id}.${changed.toString('base64url')}`))).toThrow(UnsealError);
    }
  });

  it.each(['', '.', 'x', 'x.y', 'no dot at all'])('Attack: a text that was never sealed does not open (%p)', (text) => {
    expect(() => box.open(toSealedText(text))).toThrow(UnsealError);
  });

  it('Attack: a sealed value that is cut short does not open', () => {
    const [id, body = ''] = box.seal('secret').split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (const length of [0, 11, 12, 20, 27, bytes.length - 1]) {
      expect(() => box.open(toSealedText(`${id}.${bytes.subarray(0, length).toString('base64url')}`))).toThrow(
        UnsealError,
      );
    }
  });

  it('A secret box needs a key', () => {
    expect(() => createSecretBox([], 'totp')).toThrow(RangeError);
    expect(() => createSecretBox([''], 'totp')).toThrow(RangeError);
  });
});

describe('a caching secret box', () => {
  const inner = createSecretBox([NEW_KEY], 'records');
  let opened = 0;
  const counting = {
    seal: inner.seal,
    open(sealed: string, aad?: string) {
      opened += 1;
      return inner.open(toSealedText(sealed), aad);
    },
  };
  beforeEach(() => {
    opened = 0;
  });

  it('A caching box opens what it has sealed or opened without a second decryption', () => {
    const box = cachingSecretBox(counting);
    expect(box.open(box.seal('mine', 'here'), 'here')).toBe('mine');
    expect(opened).toBe(0);
    const foreign = inner.seal('of another process', 'there');
    expect([box.open(foreign, 'there'), box.open(foreign, 'there')]).toEqual(Array(2).fill('of another process'));
    expect(opened).toBe(1);
  });

  it('A caching box opens the current value of a place and not the earlier one', () => {
    const box = cachingSecretBox(counting);
    box.seal('before', 'here');
    expect(box.open(inner.seal('now', 'here'), 'here')).toBe('now');
  });

  it('Attack: a cached sealed value that is moved to another place or changed does not open', () => {
    const box = cachingSecretBox(counting);
    const sealed = box.seal('mine', 'here');
    box.seal('yours', 'there');
    expect(() => box.open(sealed, 'there')).toThrow(UnsealError);
    const otherEnd = sealed.endsWith('AA') ? 'BB' : 'AA';
    expect(() => box.open(toSealedText(`${sealed.slice(0, -2)}${otherEnd}`), 'here')).toThrow(UnsealError);
  });

  it('A caching box keeps no more entries than its bound', () => {
    const box = cachingSecretBox(counting, 2);
    const [first, , last] = ['a', 'b', 'c'].map((place) => box.seal(place, place));
    expect([box.open(toSealedText(last ?? ''), 'c'), opened]).toEqual(['c', 0]);
    expect([box.open(toSealedText(first ?? ''), 'a'), opened]).toEqual(['a', 1]);
  });
});

describe('deriveKey', () => {
  it('The derived key is the same for the same purpose and unrelated for any other', () => {
    expect(deriveKey(NEW_KEY, 'cookies', 32)).toEqual(deriveKey(NEW_KEY, 'cookies', 32));
    expect(deriveKey(NEW_KEY, 'cookies', 32)).not.toEqual(deriveKey(NEW_KEY, 'codes', 32));
    expect(deriveKey(NEW_KEY, 'cookies', 32)).not.toEqual(deriveKey(OLD_KEY, 'cookies', 32));
    expect(deriveKey(NEW_KEY, 'cookies', 48)).toHaveLength(48);
  });

  it('The derived key stays the same in every release, so that stored data still open', () => {
    expect(deriveKey('secret', 'purpose', 16).toString('hex')).toBe('4450602f1ab8d9564d8812df23959c2d');
    const sealed = 'pLD0v0p1.rIhELKn60OKg4cWUadVv7af6F_mk52nBLBE_GrRALD0I';
    expect(createSecretBox(['secret'], 'purpose').open(toSealedText(sealed), 'place')).toBe('plain');
  });
});
