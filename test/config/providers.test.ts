import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError, loadConfig } from '../../config/load.ts';
import { loadProviders, noProviders, ProvidersFileError, parseProviders } from '../../config/providers.ts';
import { standardKinds, standardProviders, standardUrlVariables } from '../../config/standard-providers.ts';
import { makeSigner } from '../../sandbox/providers/index.ts';
import { production } from '../attacks/production.ts';

const folder = mkdtempSync(join(tmpdir(), 'foyer-providers-file-'));
const file = join(folder, 'providers.json');
const write = (name: string, content: string | Buffer) => writeFileSync(join(folder, name), content);
const { privateKey, certificate } = makeSigner('Foyer', Date.now(), Date.now() + 1_000_000);

beforeAll(() => {
  write('saml.key', privateKey);
  write('saml.crt', certificate);
  write('logo.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const oidc = { kind: 'oidc', id: 'acme', name: 'Acme', issuer: 'https://id.acme.example', clientId: 'foyer' };
const saml = {
  kind: 'saml',
  id: 'globex',
  name: 'Globex',
  entityId: 'https://idp.globex.example',
  ssoUrl: 'https://idp.globex.example/sso',
  certificates: ['saml.crt'],
};
const parse = (json: unknown, environment: NodeJS.ProcessEnv = {}) =>
  parseProviders(typeof json === 'string' ? json : JSON.stringify(json), file, environment);

function faultsOf(json: unknown, environment?: NodeJS.ProcessEnv): readonly string[] {
  try {
    parse(json, environment);
    return [];
  } catch (error) {
    if (!(error instanceof ProvidersFileError)) throw error;
    for (const fault of error.faults) expect(error.message).toContain(fault);
    return error.faults;
  }
}
const one = (change: object, of: object = oidc) => faultsOf({ providers: [{ ...of, ...change }] });

describe('the file of providers', () => {
  it('The file of providers may be absent or empty', () => {
    expect(loadProviders(undefined, {})).toEqual(noProviders);
    expect(parse({})).toEqual(noProviders);
  });

  it('The loaded file has defaults for what was left out and the content of the files that it names', () => {
    const { providers, serviceProvider, google } = parse(
      {
        serviceProvider: { privateKey: 'saml.key', certificate: 'saml.crt' },
        google: { secondFactor: 'required', domains: ['example.com'] },
        providers: [{ ...oidc, logo: 'logo.svg', clientSecretVariable: 'ACME_SECRET' }, saml],
      },
      { ACME_SECRET: 'of acme' },
    );
    expect(google).toEqual({ signUp: true, secondFactor: 'required', domains: ['example.com'] });
    expect(serviceProvider).toEqual({ privateKey: privateKey.trim(), certificate: certificate.trim() });
    expect(providers).toMatchObject([
      {
        signUp: true,
        secondFactor: 'ask',
        domains: [],
        verifiedEmails: 'domains',
        userinfo: true,
        claims: {},
        scope: 'openid profile email',
        clientSecret: 'of acme',
        logo: expect.stringMatching(/^data:image\/svg\+xml;base64,/),
      },
      { certificates: [certificate.trim()], idpInitiated: false, logo: undefined },
    ]);
  });

  it('The file reports every fault at once, each with its place', () => {
    const faults = faultsOf({
      apple: {},
      google: { signup: true },
      providers: [
        { kind: 'oidc', id: 'Acme Inc', issuer: 'acme' },
        { ...saml, ssoUrl: 'http://idp.globex.example', certificates: [] },
        { kind: 'ldap' },
      ],
    });
    for (const at of [
      ...['the file: ', 'google: ', 'providers.0.id: ', 'providers.0.name: ', 'providers.0.issuer: '],
      ...['providers.0.clientId: ', 'providers.1.ssoUrl: ', 'providers.1.certificates: ', 'providers.2.kind: '],
    ])
      expect(faults.some((fault) => fault.startsWith(at))).toBe(true);
  });

  it('The file reports contradictions between its parts and faults of the files that it names with its own faults', () => {
    const faults = faultsOf({
      serviceProvider: { privateKey: 'no.key', certificate: 'saml.crt' },
      google: { domains: ['acme.example'] },
      amazon: { signUp: 'no' },
      providers: [
        { ...oidc, issuer: 'acme' },
        { ...saml, id: 'twice', domains: ['acme.example'], certificates: ['no.crt'], signRequests: true },
        { ...oidc, id: 'twice', clientSecretVariable: 'NO_SUCH' },
        'acme',
      ],
    });
    expect(faults).toEqual(
      [
        ...[/^amazon\.signUp: /, /^providers\.0\.issuer: /, /^providers\.3: /],
        ...[
          /id twice stands there twice/,
          /domain acme\.example stands there twice/,
          /^providers\.2\..*NO_SUCH is not set/,
        ],
        ...[
          /^serviceProvider\.privateKey: no\.key cannot be read/,
          /^providers\.1\.certificates: no\.crt cannot be read/,
        ],
      ].map((fault) => expect.stringMatching(fault)),
    );
  });

  it('A missing key gives no second fault when its part has a fault of its own', () => {
    const faults = faultsOf({
      serviceProvider: { privateKey: 'saml.key' },
      providers: [{ ...saml, signRequests: true }],
    });
    expect(faults).toEqual([expect.stringMatching(/^serviceProvider\.certificate: /)]);
  });

  it.each([[null], [[]], ['text'], [{ providers: {} }]])(
    'A file with the JSON value %j is refused with one fault',
    (json) => {
      expect(faultsOf(JSON.stringify(json))).toHaveLength(1);
    },
  );

  it.each<[string, () => readonly string[], RegExp]>([
    ['no JSON', () => faultsOf('{"providers":'), /^it is no JSON/],
    ['a reserved id', () => one({ id: 'google' }), /^providers\.0\.id: is taken/],
    ['an id that is a path', () => one({ id: '../x' }), /^providers\.0\.id: write/],
    ['no openid', () => one({ scope: 'profile' }), /must contain openid/],
    ['both secrets', () => one({ clientSecret: 'a', clientSecretVariable: 'B' }), /clientSecretVariable: .*not both/],
    ['a variable that is not set', () => one({ clientSecretVariable: 'NO_SUCH' }), /NO_SUCH is not set/],
    ['a domain with @', () => one({ domains: ['@acme.example'] }), /domains\.0: write a domain/],
    ['a domain in capitals', () => one({ domains: ['Acme.example'] }), /domains\.0: write a domain/],
    ['credentials in an address', () => one({ issuer: 'https://a:b@acme.example' }), /issuer: write an absolute/],
    ['a logo that is none', () => one({ logo: 'logo.gif' }), /logo: logo\.gif is no SVG or PNG/],
    ['a file that is not there', () => one({ certificates: ['no.crt'] }, saml), /no\.crt cannot be read \(ENOENT\)/],
    ['a key in place of a certificate', () => one({ certificates: ['saml.key'] }, saml), /is no certificate in PEM/],
    ['signing without a key', () => one({ signRequests: true }, saml), /signRequests: needs serviceProvider/],
    ['encryption without a key', () => one({ encryptedAssertions: true }, saml), /encryptedAssertions: needs/],
    ['logout without a key', () => one({ logoutUrl: 'https://x.example/slo' }, saml), /logoutUrl: needs/],
    ['a tolerance of 301 seconds', () => one({ clockTolerance: 301 }, saml), /clockTolerance: write at most 300/],
    [
      'a refresh without metadata',
      () => one({ metadataRefresh: 'signed' }, saml),
      /metadataRefresh: needs metadataUrl/,
    ],
    [
      'a certificate that verifies nothing',
      () => one({ metadataCertificate: 'saml.crt' }, saml),
      /needs metadataRefresh/,
    ],
    ['one id twice', () => faultsOf({ providers: [oidc, { ...saml, id: 'acme' }] }), /id acme stands there twice/],
    ['one issuer twice', () => faultsOf({ providers: [oidc, { ...oidc, id: 'b' }] }), /issuer .* stands there twice/],
    [
      'one domain of two',
      () => faultsOf({ google: { domains: ['a.example'] }, providers: [{ ...oidc, domains: ['a.example'] }] }),
      /domain a\.example stands there twice/,
    ],
  ])('The file is refused with one fault: %s', (_what, faults, expected) => {
    expect(faults()).toEqual([expect.stringMatching(expected)]);
  });

  it('A logo that is too big is refused, because every sign-in page contains it', () => {
    write('big.png', Buffer.alloc(20_001));
    expect(one({ logo: 'big.png' })).toEqual([expect.stringMatching(/more than 20000 bytes/)]);
  });

  it('Plain http is accepted only for this machine and never in production', () => {
    const local = { ...oidc, issuer: 'http://127.0.0.1:3001/acme' };
    expect(faultsOf({ providers: [local] })).toEqual([]);
    expect(faultsOf({ providers: [local] }, { NODE_ENV: 'production' })).toEqual([
      'providers.0.issuer: must begin with https:// in production',
    ]);
    expect(one({ issuer: 'http://id.acme.example' })).toHaveLength(1);
  });

  it.each<[string, object]>([
    ['Okta', { entityId: 'http://www.okta.com/exk1fxpszb7zrNTLz2p8' }],
    ['AD FS', { entityId: 'http://adfs.contoso.com/adfs/services/trust' }],
    ['Entra ID', { subject: 'http://schemas.microsoft.com/identity/claims/objectidentifier' }],
    [
      'names of Microsoft as attributes',
      { attributes: { email: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress' } },
    ],
    ['a name of a format', { nameIdFormat: 'http://schemas.xmlsoap.org/claims/UPN' }],
  ])('A name that begins with http:// is accepted in production, because nobody visits it: %s', (_product, change) => {
    expect(faultsOf({ providers: [{ ...saml, ...change }] }, { NODE_ENV: 'production' })).toEqual([]);
  });

  it('A client id or secret that begins with http:// is accepted in production', () => {
    const named = { ...oidc, clientId: 'http://foyer.example', clientSecret: 'http://secret' };
    expect(faultsOf({ providers: [named] }, { NODE_ENV: 'production' })).toEqual([]);
  });

  it('Each address that is fetched or visited must begin with https:// in production', () => {
    const plain = 'http://127.0.0.1:3001/here';
    const providers = [
      { ...oidc, issuer: plain },
      { ...saml, ssoUrl: plain, logoutUrl: plain, metadataUrl: plain },
    ];
    const serviceProvider = { privateKey: 'saml.key', certificate: 'saml.crt' };
    expect(faultsOf({ serviceProvider, providers })).toEqual([]);
    expect(faultsOf({ serviceProvider, providers }, { NODE_ENV: 'production' })).toEqual(
      ['0.issuer', '1.ssoUrl', '1.logoutUrl', '1.metadataUrl'].map(
        (name) => `providers.${name}: must begin with https:// in production`,
      ),
    );
  });

  it('A persistent NameID is asked for unless the entry names another format or subject', () => {
    const formatBy = (change: object) => {
      const [provider] = parse({ providers: [{ ...saml, ...change }] }).providers;
      return provider?.kind === 'saml' ? provider.nameIdFormat : 'none';
    };
    const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    expect(formatBy({})).toBe('urn:oasis:names:tc:SAML:2.0:nameid-format:persistent');
    expect(formatBy({ nameIdFormat: email })).toBe(email);
    expect(formatBy({ subject: 'employeeNumber' })).toBeUndefined();
    expect(formatBy({ permanentNameIdFormats: [email] })).toBeUndefined();
  });

  it('The example file of providers is valid', () => {
    const text = readFileSync(join(import.meta.dirname, '../../config/providers.example.json'), 'utf8');
    write('globex.crt', certificate);
    expect(parse(text, { ACME_CLIENT_SECRET: 's' }).providers.map(({ kind }) => kind)).toEqual(['oidc', 'saml']);
  });

  it('A file that cannot be read is a fault and does not count as absent', () => {
    expect(() => loadProviders(join(folder, 'nowhere.json'), {})).toThrow(ProvidersFileError);
  });
});

describe('the variables of providers', () => {
  const faults = (environment: NodeJS.ProcessEnv): readonly string[] => {
    try {
      loadConfig(environment);
      return [];
    } catch (error) {
      if (error instanceof ConfigurationError) return error.faults;
      throw error;
    }
  };
  const pairs = standardKinds.flatMap((kind) => {
    const { id, secret } = standardProviders[kind].credentials;
    return [
      [id.variable, secret.variable],
      [secret.variable, id.variable],
    ] as const;
  });
  it.each(pairs)('The variable %s needs %s', (given, missing) => {
    expect(faults({ ...production, [given]: 'x' })).toEqual([expect.stringMatching(`^${missing} is missing`)]);
    expect(faults({ ...production, [given]: 'x', [missing]: 'y' })).toEqual([]);
  });

  it('No secret is sent over plain http in production', () => {
    const plain = Object.fromEntries(standardUrlVariables.map((name) => [name, 'http://a.example']));
    expect(faults({ ...production, ...plain })).toEqual(
      standardUrlVariables.map((name) => `${name}: must begin with https:// in production`),
    );
  });
});
