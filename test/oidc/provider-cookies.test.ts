import { createHmac } from 'node:crypto';
import { cookieSignatures } from '../../server/oidc/provider-cookies.ts';

describe('signatures of the provider’s cookies', () => {
  const [older, newer] = ['an older key', 'a newer key'];
  const text = 'foyer_op=some-session';

  it('A signature verifies only for the text that it signs', () => {
    const ours = cookieSignatures([newer]);
    const signature = ours.sign(text);
    expect(ours.verify(text, signature)).toBe(true);
    expect(ours.verify('foyer_op=another-session', signature)).toBe(false);
    expect(ours.verify(text, `${signature.slice(0, -2)}AA`)).toBe(false);
    for (const other of ['', signature.slice(1), `${signature}AAAA`, 'é', cookieSignatures([older]).sign(text)]) {
      expect(ours.index(text, other)).toBe(-1);
    }
  });

  it('A signature of the previous key still verifies and is recognized, so that the cookie is signed again', () => {
    const after = cookieSignatures([newer, older]);
    expect(after.index(text, cookieSignatures([older]).sign(text))).toBe(1);
    expect(after.index(text, after.sign(text))).toBe(0);
    expect(cookieSignatures([newer]).verify(text, after.sign(text))).toBe(true);
  });

  it('A plain HMAC with the same key is no valid cookie signature', () => {
    const plain = createHmac('sha256', newer).update(text).digest('base64url');
    expect(cookieSignatures([newer]).verify(text, plain)).toBe(false);
  });

  it('The cookie signatures need at least one key', () => {
    expect(() => cookieSignatures([])).toThrow(RangeError);
  });
});
