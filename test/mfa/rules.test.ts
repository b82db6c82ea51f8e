import { generate, generateSecret } from 'otplib';
import {
  findMatchingStep,
  hashRecoveryCode,
  makeRecoveryCodes,
  newTotpSecret,
  normaliseRecoveryCode,
  totpUri,
} from '../../server/mfa/index.ts';
import { listChallengeMethods } from '../../server/mfa/mfa-preference.ts';
import { meetsAcr, toAcr } from '../../server/sessions/index.ts';

const base32 = (text: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...Buffer.from(text)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('');
};

describe('codes of authenticator apps', () => {
  // The last six of the eight digits in RFC 6238, appendix B, for SHA-1.
  const secret = base32('12345678901234567890');
  it.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('At %i s the code of RFC 6238 is %s', (seconds, code) => {
    expect(findMatchingStep(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it('Codes of another library are accepted one time step before and after, and no further', async () => {
    const [own, theirs] = [newTotpSecret(), generateSecret()];
    const now = Date.UTC(2026, 10, 21, 12, 0, 10);
    const step = Math.floor(now / 30_000);
    for (const each of [own, theirs]) {
      for (const drift of [-2, -1, 0, 1, 2]) {
        const code = await generate({ secret: each, epoch: now / 1000 + drift * 30 });
        expect({ drift, found: findMatchingStep(each, code, now) }).toEqual({
          drift,
          found: Math.abs(drift) <= 1 ? step + drift : undefined,
        });
      }
    }
    expect(own).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(own);
  });

  it('The otpauth address names the issuer and the user', () => {
    const uri = new URL(totpUri('JBSWY3DPEHPK3PXP', { issuer: 'Maison & Söhne', account: 'ada+x@example.com' }));
    expect(uri.protocol).toBe('otpauth:');
    expect(decodeURIComponent(uri.pathname)).toContain('ada+x@example.com');
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret: 'JBSWY3DPEHPK3PXP',
      issuer: 'Maison & Söhne',
      digits: '6',
      period: '30',
    });
  });
});

describe('recovery codes', () => {
  it('A set has ten different codes of 80 bits, and no code repeats', () => {
    const codes = [...makeRecoveryCodes(), ...makeRecoveryCodes()];
    expect(codes).toHaveLength(20);
    expect(new Set(codes).size).toBe(20);
    for (const code of codes) expect(code).toMatch(/^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    // 320 random characters of an alphabet of 32 contain almost all of them.
    expect(new Set(codes.join('').replaceAll('-', '')).size).toBeGreaterThan(28);
  });

  it.each([
    'abcd-efgh-ijkl-mno2',
    ' ABCD EFGH IJKL MNO2 ',
    'ABCDEFGHIJKLMNO2',
    'abcd–efgh—ijkl-mn02',
    'a8cd-efgh-1jkl-mno2',
  ])('The entry %p is read as the recovery code', (typed) => {
    expect(normaliseRecoveryCode(typed)).toBe('ABCDEFGHIJKLMNO2');
  });

  it.each(['', 'ABCD', 'ABCD-EFGH-IJKL-MNO', 'ABCD-EFGH-IJKL-MNO22', 'ABCD-EFGH-IJKL-MNO9', 'ÄBCD-EFGH-IJKL-MNO2'])(
    'The entry %p is no recovery code',
    (typed) => {
      expect(normaliseRecoveryCode(typed)).toBeUndefined();
    },
  );

  it('The hash does not contain the code', () => {
    expect(hashRecoveryCode('ABCDEFGHIJKLMNO2')).toMatch(/^[\w-]{43}$/);
    expect(hashRecoveryCode('ABCDEFGHIJKLMNO2')).not.toBe(hashRecoveryCode('ABCDEFGHIJKLMNO3'));
  });
});

describe('listChallengeMethods', () => {
  const none = { preference: 'none', sms: false, totp: false, recoveryCodesLeft: 0 } as const;
  it.each([
    ['no method while the second factor is off', { ...none, sms: true, totp: true, recoveryCodesLeft: 9 }, true, []],
    ['the app and recovery codes', { ...none, preference: 'totp', totp: true }, true, ['totp', 'recovery']],
    [
      'the app before the phone to a user who prefers the app',
      { ...none, preference: 'totp', totp: true, sms: true },
      true,
      ['totp', 'sms', 'recovery'],
    ],
    [
      'the phone before the app to a user who prefers the phone',
      { ...none, preference: 'sms', totp: true, sms: true },
      true,
      ['sms', 'totp', 'recovery'],
    ],
    ['no phone where no messages can be sent', { ...none, preference: 'sms', sms: true }, false, ['recovery']],
    ['recovery codes even when no other method is left', { ...none, preference: 'totp' }, true, ['recovery']],
  ] as const)('A challenge offers %s', (_what, factors, smsOffered, methods) => {
    expect(listChallengeMethods(factors, smsOffered)).toEqual(methods);
  });
});

describe('acr of a sign-in', () => {
  it.each([
    [[], 'aal1'],
    [['pwd'], 'aal1'],
    [['otp'], 'aal1'],
    [['pwd', 'otp', 'mfa'], 'aal2'],
    [['pwd', 'sms', 'mfa'], 'aal2'],
    [['pop', 'user', 'mfa', 'swk'], 'phr'],
    [['pop'], 'aal1'],
  ])('The amr %p gives the acr %s', (amr, acr) => {
    expect(toAcr(amr)).toBe(acr);
  });

  it('A stronger acr satisfies a weaker one, and none satisfies an unknown one', () => {
    expect(meetsAcr('aal2', 'aal1')).toBe(true);
    expect(meetsAcr('phr', 'aal2')).toBe(true);
    expect(meetsAcr('aal1', 'aal2')).toBe(false);
    expect(meetsAcr('aal2', 'phr')).toBe(false);
    expect(meetsAcr('phr', 'urn:unknown')).toBe(false);
    expect(meetsAcr('phr', 'toString')).toBe(false);
  });
});
