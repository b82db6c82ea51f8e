import type { SamlProviderConfig } from '../../config/providers.ts';
import { samlToIdentity } from '../../server/federation/saml/identity.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { settingsOf } from './strategies.ts';

const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const microsoft = {
  email: `${claims}/emailaddress`,
  givenName: `${claims}/givenname`,
  familyName: `${claims}/surname`,
};
const named = { email: 'email', givenName: 'firstName', familyName: 'lastName' };

/** The names of e-mail address, given name and family name. */
const products: Record<string, Record<'email' | 'givenName' | 'familyName', string>> = {
  'Keycloak (X500 mappers)': {
    email: 'urn:oid:1.2.840.113549.1.9.1',
    givenName: 'urn:oid:2.5.4.42',
    familyName: 'urn:oid:2.5.4.4',
  },
  'AD FS': microsoft,
  'Entra ID': microsoft,
  Okta: named,
  'Google Workspace': named,
  SimpleSAMLphp: { email: 'mail', givenName: 'givenName', familyName: 'sn' },
  'Shibboleth (OIDs)': {
    email: 'urn:oid:0.9.2342.19200300.100.1.3',
    givenName: 'urn:oid:2.5.4.42',
    familyName: 'urn:oid:2.5.4.4',
  },
  'Shibboleth (names)': { email: 'mail', givenName: 'givenName', familyName: 'sn' },
  'Shibboleth (names of version 1)': {
    email: 'urn:mace:dir:attribute-def:mail',
    givenName: 'urn:mace:dir:attribute-def:givenName',
    familyName: 'urn:mace:dir:attribute-def:sn',
  },
  OneLogin: { email: 'User.email', givenName: 'User.FirstName', familyName: 'User.LastName' },
};

describe('attributes that products send', () => {
  let providers: TestProviders;
  let config: SamlProviderConfig;
  beforeAll(async () => {
    providers = await startProviders();
    const { file } = settingsOf(providers.environment());
    const found = file.providers.find((one) => one.kind === 'saml');
    if (found?.kind !== 'saml') throw new Error('no SAML provider');
    config = { ...found, attributes: {} };
  });
  afterAll(() => providers?.close());

  const identityBy = (attributes: Record<string, string>, change: Partial<SamlProviderConfig> = {}) =>
    samlToIdentity(
      { ...config, ...change },
      {
        id: '_a',
        untilMs: 0,
        nameId: 'n',
        nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        nameQualifier: undefined,
        spNameQualifier: undefined,
        sessionIndex: undefined,
        shownAtMs: 0,
        attributes: new Map(Object.entries(attributes).map(([name, value]) => [name, [value]])),
      },
    );

  it.each(Object.entries(products))('The attributes of %s are read without a mapping', (_product, names) => {
    const said = { [names.email]: 'ada@acme.example', [names.givenName]: 'Ada', [names.familyName]: 'Lovelace' };
    expect(identityBy(said)).toMatchObject({ email: 'ada@acme.example', givenName: 'Ada', familyName: 'Lovelace' });
  });

  it('The display name of Entra ID counts before the name that is an address for sign-in', () => {
    const said = {
      [`${claims}/name`]: 'ada@acme.example',
      'http://schemas.microsoft.com/identity/claims/displayname': 'Ada Lovelace',
    };
    expect(identityBy(said)).toMatchObject({ givenName: 'Ada', familyName: 'Lovelace' });
  });

  it('A mapped attribute is the only one that is read for its field', () => {
    const said = { mail: 'ada@acme.example', workMail: 'work@acme.example' };
    expect(identityBy(said, { attributes: { email: 'workMail' } }).email).toBe('work@acme.example');
    expect(identityBy({ mail: 'ada@acme.example' }, { attributes: { email: 'workMail' } }).email).toBeUndefined();
  });
});
