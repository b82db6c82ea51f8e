import type { OidcProviderConfig } from '../../config/providers.ts';
import { FederationError } from '../../server/federation/identity.ts';
import { mergeClaims } from '../../server/federation/providers/id-token-claims.ts';
import { oidcToIdentity, requireFreshAuthentication } from '../../server/federation/providers/oidc.ts';

const acme: Pick<OidcProviderConfig, 'issuer' | 'claims' | 'domains' | 'verifiedEmails'> = {
  issuer: 'https://id.acme.example/',
  claims: {},
  domains: ['acme.example'],
  verifiedEmails: 'domains',
};
const said = { iss: 'https://id.acme.example', sub: '1', email: 'ada@acme.example', email_verified: true };

describe('confirmed addresses', () => {
  it.each([
    ['confirmed if the provider says so and the domain is its own', said, acme, true],
    ['unconfirmed if the domain is not the provider’s', { ...said, email: 'ada@example.com' }, acme, false],
    ['unconfirmed if the provider says so', { ...said, email_verified: false }, acme, false],
    ['unconfirmed if the provider says nothing', { ...said, email_verified: undefined }, acme, false],
    ['confirmed if the provider says so by a text', { ...said, email_verified: 'true' }, acme, true],
    ['unconfirmed if email_verified is another text', { ...said, email_verified: 'TRUE' }, acme, false],
    ['unconfirmed if the configuration says never', said, { ...acme, verifiedEmails: 'never' as const }, false],
    ['unconfirmed if no domain is configured', said, { ...acme, domains: [] }, false],
    [
      'unconfirmed if another tenant of Microsoft’s “common” endpoint issued it',
      { ...said, iss: 'https://login.microsoftonline.com/7b0e2c1d-0000-4000-8000-000000000000/v2.0' },
      { ...acme, issuer: 'https://login.microsoftonline.com/common/v2.0' },
      false,
    ],
    // The provider confirms nothing about `upn`, which users can change at some companies.
    [
      'unconfirmed if it comes from another claim than email',
      { ...said, upn: 'eve@acme.example' },
      { ...acme, claims: { email: 'upn' } },
      false,
    ],
  ])('The address of an identity is %s', (_what, claims, config, verified) => {
    expect(oidcToIdentity(claims, config).emailVerified).toBe(verified);
  });

  const values = [undefined, true, 'true', false, 'false'];
  const settings = ['domains', 'trusted-domains', 'never'] as const;
  const addresses = [['ada@acme.example', true] as const, ['ada@example.com', false] as const];
  const issuers = [['https://id.acme.example', true] as const, ['https://other.example', false] as const];
  const cases = values.flatMap((email_verified) =>
    settings.flatMap((verifiedEmails) =>
      addresses.flatMap(([email, inside]) =>
        issuers.map(([iss, own]) => ({ email_verified, verifiedEmails, email, inside, iss, own })),
      ),
    ),
  );
  it('The table of addresses has a row for each claim, setting, domain and issuer', () => {
    expect(cases).toHaveLength(60);
  });
  it.each(cases)(
    'With email_verified $email_verified, $verifiedEmails, $email and the issuer $iss the address counts as the rule says',
    ({ email_verified, verifiedEmails, email, inside, iss, own }) => {
      const believed = {
        domains: email_verified === true || email_verified === 'true',
        'trusted-domains': email_verified === undefined || email_verified === true || email_verified === 'true',
        never: false,
      };
      const identity = oidcToIdentity({ ...said, email_verified, email, iss }, { ...acme, verifiedEmails });
      expect(identity.emailVerified).toBe(inside && own && believed[verifiedEmails]);
    },
  );

  it('Trusted domains do not apply to another claim than email, nor to an unknown value of email_verified', () => {
    const trusted = { ...acme, verifiedEmails: 'trusted-domains' as const };
    const upn = oidcToIdentity(
      { ...said, upn: 'eve@acme.example', email_verified: undefined },
      { ...trusted, claims: { email: 'upn' } },
    );
    expect(upn.emailVerified).toBe(false);
    for (const email_verified of [null, '', 'no', 0, 1, {}])
      expect(oidcToIdentity({ ...said, email_verified }, trusted).emailVerified).toBe(false);
  });

  it('An address that the id token or userinfo denies is not confirmed by the other', () => {
    for (const denied of [false, 'false']) {
      const more = { sub: '1', email: said.email };
      expect(mergeClaims({ ...said, email_verified: denied }, more).email_verified).toBe(false);
      expect(mergeClaims(said, { ...more, email_verified: denied }).email_verified).toBe(false);
    }
  });

  it('Attack: an address that is denied in another letter case, or without the address beside it, is not believed', () => {
    const denied = { ...said, email: 'Ada@Acme.example', email_verified: false };
    const trusted = { ...acme, verifiedEmails: 'trusted-domains' as const };
    for (const whole of [
      mergeClaims(denied, { sub: '1', email: 'ada@acme.example' }),
      mergeClaims(denied, { sub: '1', email: 'ada@acme.example', email_verified: true }),
      mergeClaims({ ...said, email: undefined, email_verified: false }, { sub: '1', email: 'ada@acme.example' }),
      mergeClaims({ ...said, email_verified: undefined }, { sub: '1', email_verified: false }),
    ])
      expect(oidcToIdentity(whole, trusted)).toMatchObject({ email: 'ada@acme.example', emailVerified: false });
  });

  it('email_verified of the id token does not apply to another address from userinfo', () => {
    const more = { sub: '1', email: 'eve@acme.example' };
    expect(mergeClaims(said, more)).toMatchObject({ email: 'eve@acme.example', email_verified: undefined });
    expect(mergeClaims({ ...said, email: undefined }, { ...more, email_verified: true })).toMatchObject({
      email: 'eve@acme.example',
      email_verified: true,
    });
    expect(mergeClaims(said, { sub: '1', name: 'Ada' })).toMatchObject({ ...said, name: 'Ada' });
  });

  it('The issuer and the auth_time of userinfo are ignored', () => {
    const more = { sub: '1', iss: 'https://evil.example', auth_time: 9 };
    expect(mergeClaims({ ...said, auth_time: 5 }, more)).toMatchObject({ iss: said.iss, auth_time: 5 });
  });
});

describe('mapping of claims', () => {
  it('The claims are mapped as configured', () => {
    const claims = { email: 'mail', givenName: 'first', familyName: 'last', picture: 'photo' };
    const told = { ...said, mail: 'a@acme.example', first: 'Ada', last: 'King', photo: 'https://x.example/a.png' };
    expect(oidcToIdentity(told, { ...acme, claims })).toEqual({
      issuer: said.iss,
      subject: '1',
      email: 'a@acme.example',
      emailVerified: false,
      givenName: 'Ada',
      familyName: 'King',
      picture: 'https://x.example/a.png',
    });
  });

  it('A full name is split when no given name and family name are sent', () => {
    const named = (name: string) => oidcToIdentity({ ...said, name }, acme);
    expect(named('Ada Augusta King')).toMatchObject({ givenName: 'Ada Augusta', familyName: 'King' });
    expect(named('Ada')).toMatchObject({ givenName: 'Ada', familyName: '' });
    expect(oidcToIdentity({ ...said, name: 7 }, acme)).toMatchObject({ givenName: '', familyName: '' });
    const cut = oidcToIdentity({ ...said, given_name: `${'x'.repeat(99)}😀` }, acme).givenName;
    expect(cut).toBe('x'.repeat(99));
  });

  it('Attack: direction marks and line separators are removed from names', () => {
    const bidi = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'];
    for (const control of bidi) {
      const told = { ...said, given_name: `Ada${control}moc.elpmaxe`, family_name: `${control}King${control}` };
      expect(oidcToIdentity(told, acme)).toMatchObject({ givenName: 'Adamoc.elpmaxe', familyName: 'King' });
      expect(oidcToIdentity({ ...said, name: `${control}Ada King` }, acme)).toMatchObject({ givenName: 'Ada' });
    }
    for (const separator of ['\u2028', '\u2029'])
      expect(oidcToIdentity({ ...said, given_name: `Ada${separator}admin` }, acme).givenName).toBe('Ada admin');
    // Joiners that names need stay.
    expect(oidcToIdentity({ ...said, given_name: '\u05e2\u05d3\u05d4\u200e\u200f\u200d' }, acme).givenName).toContain(
      '\u200d',
    );
  });

  it.each([undefined, '', 7, 'x'.repeat(256), '\ud800', 'a\u0000b', 'a\nb'])(
    'A subject that is missing or malformed is refused: %p',
    (sub) => {
      expect(() => oidcToIdentity({ ...said, sub }, acme)).toThrow(FederationError);
    },
  );
});

describe('fresh authentication at a provider', () => {
  const askedAtS = 1_000_000;
  const knows = { claims_supported: ['sub', 'auth_time'] };
  it('A recent auth_time is accepted', () => {
    requireFreshAuthentication({ auth_time: askedAtS + 5 }, askedAtS, knows);
    requireFreshAuthentication({ auth_time: askedAtS - 30 }, askedAtS, knows);
  });
  it.each([{ auth_time: askedAtS - 61 }, { auth_time: '1000005' }, {}])(
    'An old, malformed or missing auth_time is refused: %p',
    (told) => {
      expect(() => requireFreshAuthentication(told, askedAtS, knows)).toThrow(
        expect.objectContaining({ kind: 'not-fresh' }),
      );
    },
  );
  it('A provider without auth_time support is trusted, but an old auth_time is refused', () => {
    requireFreshAuthentication({}, askedAtS, { claims_supported: ['sub'] });
    requireFreshAuthentication({}, askedAtS, {});
    expect(() => requireFreshAuthentication({ auth_time: 5 }, askedAtS, {})).toThrow(
      expect.objectContaining({ kind: 'not-fresh' }),
    );
  });
});
