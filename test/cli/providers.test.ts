import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { standardKinds, standardProviders } from '../../config/standard-providers.ts';
import { makeSigner } from '../../sandbox/providers/index.ts';
import { checkFederation } from '../../server/cli/doctor/providers.ts';
import { readSetup } from '../../server/cli/doctor/setup.ts';
import { type Cli, type CliRun, cliOn } from '../support/cli.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { metadataXml } from '../support/provider-documents.ts';
import { codeFlowKinds, idsOnPages } from '../support/provider-kinds.ts';
import { type ProvidersJson, startProviders, type TestProviders } from '../support/providers.ts';
import { freePort } from '../support/services.ts';

/** Nothing here opens a store. */
const nowhere = { databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-providers', 'nowhere') };
const dayMs = 24 * 60 * 60_000;

type Report = { id: string; faults: string[]; warnings: string[]; unseen: string[] };
const reportsOf = (run: CliRun) =>
  Object.fromEntries(
    run.json<{ providers: Report[] }>().providers.map(({ id, faults, warnings }) => [id, { faults, warnings }]),
  );
const fine = { faults: [], warnings: [] };

describe('foyer provider', () => {
  let providers: TestProviders;
  /** With something else in the file. */
  const with_ = (change: (file: ProvidersJson) => void, more: Record<string, string> = {}): Cli =>
    cliOn(nowhere, {
      ...providers.environment((file) => {
        change(file);
        return file;
      }),
      ...more,
    });
  const oidc = (change: Record<string, unknown>) => (file: ProvidersJson) =>
    Object.assign(file.providers[0] ?? {}, change);
  const saml = (change: Record<string, unknown>) => (file: ProvidersJson) =>
    Object.assign(file.providers[1] ?? {}, change);
  const checked = async (cli: Cli, id: string) => reportsOf(await cli('provider', 'check', id, '--json'))[id];

  beforeAll(async () => {
    providers = await startProviders();
  });
  afterAll(() => providers?.close());

  it('Listing shows the providers and what to register, and calls no provider', async () => {
    const before = providers.exchanges.length;
    const run = await with_(oidc({ secondFactor: 'required', signUp: false }))('provider', 'list');
    expect(run).toMatchObject({ code: 0, err: '' });
    const at = 'http://localhost:3000/federation/acme-oidc';
    const register = `callback: ${at}/callback backchannel_logout: ${at}/logout frontchannel_logout: ${at}/logout`;
    expect(run.out).toMatch(new RegExp(`^acme-oidc +oidc +Acme +no +required +acme\\.example +${register}$`, 'm'));
    expect(run.out).toMatch(/^amazon +amazon +Amazon +yes +ask +- +callback: http\S+\/federation\/amazon\/callback$/m);
    const { out } = await with_(() => {})('provider', 'list', '--json');
    expect(JSON.parse(out).map(({ id }: { id: string }) => id)).toEqual(idsOnPages);
    expect(JSON.parse(out).at(-1).register).toEqual({
      metadata: 'http://localhost:3000/federation/acme-saml/metadata',
      acs: 'http://localhost:3000/federation/acme-saml/acs',
      logout: 'http://localhost:3000/federation/acme-saml/logout',
    });
    expect(providers.exchanges).toHaveLength(before);
  });

  it('Listing and checking name NameIDs that the provider may give to other people', async () => {
    const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
    const cases: [Record<string, unknown>, boolean][] = [
      [{ nameIdFormat: undefined }, false],
      [{ nameIdFormat: email }, true],
      [{ nameIdFormat: undefined, permanentNameIdFormats: [email] }, true],
      [{ nameIdFormat: email, permanentNameIdFormats: [email] }, false],
      [{ nameIdFormat: undefined, subject: 'employeeNumber' }, false],
      [{}, false],
    ];
    for (const [change, reusable] of cases) {
      const cli = with_(saml(change));
      const { out } = await cli('provider', 'list');
      expect([change, out.includes('acme-saml: the provider may give its NameIDs to other people')]).toEqual([
        change,
        reusable,
      ]);
      const listed = JSON.parse((await cli('provider', 'list', '--json')).out) as { id: string; subject: string }[];
      const subjects = Object.fromEntries(listed.map(({ id, subject }) => [id, subject]));
      expect(subjects).toMatchObject({ google: 'permanent', 'acme-saml': reusable ? 'reusable' : 'permanent' });
      expect((await checked(cli, 'acme-saml'))?.warnings).toEqual(
        reusable ? [expect.stringMatching(/^its NameIDs may be given to other people later/)] : [],
      );
    }
  });

  it('Checking providers that match the configuration finds no fault', async () => {
    const run = await with_(() => {})('provider', 'check', '--json');
    expect(run).toMatchObject({ code: 0, err: '' });
    expect(reportsOf(run)).toEqual(Object.fromEntries(idsOnPages.map((id) => [id, fine])));
    expect((await with_(() => {})('provider', 'check', 'google')).out).toMatch(/^google +ok +-$/m);
  });

  it('Checking names, apart from faults, what cannot be seen from here about a SAML provider', async () => {
    const run = await with_(() => {})('provider', 'check', 'acme-saml');
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/^acme-saml +ok +-$/m);
    expect(run.out).toMatch(/^acme-saml +unseen +whether .*\/federation\/acme-saml\/acs is registered there$/m);
    const json = await with_(() => {})('provider', 'check', 'acme-saml', '--json');
    expect(json.json<{ providers: Report[] }>().providers[0]?.unseen).toContainEqual(
      expect.stringContaining('assertions are signed'),
    );
    const { PROVIDERS_FILE = '' } = providers.environment();
    const setup = readSetup({ NODE_ENV: 'test', SECRET_KEY: 's'.repeat(40), PROVIDERS_FILE }, Date.now);
    expect(JSON.stringify(await checkFederation(setup))).not.toContain('is registered there');
  });

  it('Checking finds credentials that a provider does not accept', async () => {
    const variables = standardKinds.map((kind) => standardProviders[kind].credentials.secret.variable);
    const wrong = Object.fromEntries(variables.map((name) => [name, 'no']));
    const run = await with_(oidc({ clientSecret: 'no' }), wrong)('provider', 'check', '--json');
    expect(run).toMatchObject({ code: 1, err: `${codeFlowKinds.length} providers with a fault.\n` });
    const { 'acme-oidc': acme, ...reports } = reportsOf(run);
    for (const kind of standardKinds) expect(reports[kind]?.faults).toEqual([expect.stringContaining('not take our')]);
    expect(acme?.faults).toEqual([
      expect.stringMatching(
        /^it does not take clientId and clientSecret by basic, basic-raw or post \(clientAuthentication\); it takes client_secret_basic, client_secret_post \(/,
      ),
    ]);
  });

  it('Checking finds a provider that is away or has another issuer', async () => {
    const away = { GOOGLE_URL: 'http://127.0.0.1:9' };
    expect(
      (
        await checked(
          with_(() => {}, away),
          'google',
        )
      )?.faults,
    ).toEqual([expect.stringContaining('not answer')]);
    const unreachable = oidc({ issuer: `http://127.0.0.1:${await freePort()}/x` });
    expect((await checked(with_(unreachable), 'acme-oidc'))?.faults).toEqual([expect.stringContaining('ECONNREFUSED')]);
    const other = oidc({ issuer: `${providers.url}/unknown-issuer` });
    expect((await checked(with_(other), 'acme-oidc'))?.faults).toEqual([expect.stringContaining('404')]);
    const scope = oidc({ scope: 'openid email groups' });
    expect(await checked(with_(scope), 'acme-oidc')).toEqual({
      faults: [],
      warnings: ['it does not name the scope groups'],
    });
  });

  describe('certificates of a SAML provider', () => {
    const own = (name: string, fromDays: number, untilDays: number) => {
      const now = Date.now();
      return providers.write(name, makeSigner(name, now + fromDays * dayMs, now + untilDays * dayMs).certificate);
    };
    /** Its metadata name the certificate of the file; only what is in the file is looked at. */
    const alone = (...files: string[]) => with_(saml({ certificates: files, metadataUrl: undefined }));

    it('A certificate that ends soon gets a warning, and one that has ended or is not yet valid is a fault', async () => {
      const soon = await checked(alone(own('soon.crt', -300, 20)), 'acme-saml');
      expect(soon).toEqual({
        faults: [],
        warnings: [expect.stringMatching(/^certificate 1 expires on \S+, in 20 days$/)],
      });
      const past = await checked(alone(own('past.crt', -300, -1)), 'acme-saml');
      expect(past).toEqual({ faults: [expect.stringContaining('certificate 1 expired on')], warnings: [] });
      const later = await checked(alone(own('later.crt', 2, 400)), 'acme-saml');
      expect(later?.faults).toEqual([expect.stringContaining('is valid from')]);
      expect(await checked(alone(own('long.crt', -1, 31)), 'acme-saml')).toEqual(fine);
    });

    it('A certificate that the next one is replacing is no fault', async () => {
      const [old, next] = [own('old.crt', -300, 10), own('next.crt', -1, 700)];
      expect(await checked(alone(old, next), 'acme-saml')).toEqual(fine);
      const ended = await checked(alone(own('ended.crt', -300, -3), next), 'acme-saml');
      expect(ended).toEqual({ faults: [], warnings: [expect.stringContaining('certificate 1 expired')] });
    });

    it('A file without a valid certificate is a fault', async () => {
      const file = providers.write('none.crt', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
      expect((await checked(alone(file), 'acme-saml'))?.faults).toEqual(['certificate 1 cannot be read']);
    });

    it('A certificate that is not in the provider’s metadata is a fault', async () => {
      const run = await checked(with_(saml({ certificates: [own('strange.crt', -1, 400)] })), 'acme-saml');
      expect(run?.faults).toEqual(['none of its signing certificates is in the file']);
    });
  });

  it('Checking finds metadata that a running server cannot take over, and compares no certificates otherwise', async () => {
    const unsigned = await checked(with_(saml({ metadataRefresh: 'signed' })), 'acme-saml');
    expect(unsigned?.faults).toEqual([
      'its metadata cannot be taken over (the metadata are not signed): import them again, or set metadataCertificate',
    ]);
  });

  it('Checking finds SAML metadata of another entity, with other addresses, or none', async () => {
    const change = { entityId: 'https://else.example', ssoUrl: `${providers.url}/elsewhere` };
    expect((await checked(with_(saml(change)), 'acme-saml'))?.faults).toEqual([
      ...['its metadata are of another entityId', expect.stringContaining('do not name ssoUrl')],
    ]);
    const none = saml({ metadataUrl: `${providers.url}/nothing-here` });
    expect((await checked(with_(none), 'acme-saml'))?.faults).toEqual(['its metadata answer 404']);
    const away = saml({ metadataUrl: 'http://127.0.0.1:9/metadata' });
    expect((await checked(with_(away), 'acme-saml'))?.faults).toEqual([expect.stringContaining('cannot be read')]);
  });

  it('Checking finds a provider whose metadata want signed requests while they are not signed', async () => {
    const { server, port } = await listenOnFreePort();
    const entityId = `${providers.saml.entityId}-of-check`;
    const [signing, signOn] = [[providers.samlSigner.certificate], `${providers.url}/acme-saml/sso`];
    const logout = `${providers.url}/acme-saml/slo`;
    server.on('request', ({ url }, res) => {
      const wanted = url === '/silent' ? {} : { wantsSignedRequests: url === '/wanted' };
      res.end(metadataXml({ entityId, signing, signOn, logout, ...wanted }));
    });
    const faults = async (path: string, signRequests: boolean) => {
      const change = { entityId, signRequests, metadataUrl: `http://127.0.0.1:${port}/${path}` };
      return (await checked(with_(saml(change)), 'acme-saml'))?.faults;
    };
    expect(await faults('wanted', false)).toEqual([expect.stringContaining('want signed requests: set signRequests')]);
    for (const [path, signed] of [
      ['wanted', true],
      ['unwanted', false],
      ['unwanted', true],
      ['silent', false],
    ] as const)
      expect([path, signed, await faults(path, signed)]).toEqual([path, signed, []]);
    server.close();
  });

  it('Checking compares the clock of a SAML provider by the date of its metadata', async () => {
    const { PROVIDERS_FILE = '' } = providers.environment();
    const at = async (seconds: number) => {
      const now = () => Date.now() - seconds * 1_000;
      const setup = readSetup({ NODE_ENV: 'test', SECRET_KEY: 's'.repeat(40), PROVIDERS_FILE }, now);
      return (await checkFederation(setup))
        .filter(({ seen }) => seen.includes('clock'))
        .map(({ level, seen }) => [level, seen]);
    };
    expect(await at(0)).toEqual([]);
    expect(await at(-20)).toEqual([]);
    expect(await at(50)).toEqual([
      ['warning', expect.stringMatching(/clock is (49|50) seconds ahead of this one; clockTolerance is 60/)],
    ]);
    expect(await at(-90)).toEqual([['fault', expect.stringMatching(/clock is (90|91) seconds behind this one/)]]);
  });

  it('Checking finds a key and a certificate of Foyer that do not belong together', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = providers.write('other.key', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const cli = with_((file) => Object.assign(file.serviceProvider ?? {}, { privateKey: key }));
    expect(await cli('provider', 'check')).toMatchObject({
      code: 4,
      err: expect.stringContaining('serviceProvider.certificate: is of another key than serviceProvider.privateKey'),
    });
  });

  it('Faults of the command or the file are reported in plain words', async () => {
    const cli = with_(() => {});
    expect(await cli('provider', 'check', 'unknown-provider')).toMatchObject({
      code: 3,
      err: expect.stringContaining('unknown-provider'),
    });
    const broken = cliOn(nowhere, { PROVIDERS_FILE: '/nowhere/providers.json' });
    expect(await broken('provider', 'list')).toMatchObject({ code: 4, err: expect.stringContaining('cannot be read') });
  });

  describe('foyer doctor on providers', () => {
    const look = async (env: NodeJS.ProcessEnv) =>
      checkFederation(readSetup({ NODE_ENV: 'test', SECRET_KEY: 's'.repeat(40), ...env }, Date.now));
    const ends = async (env: NodeJS.ProcessEnv) => (await look(env)).map(({ id, level }) => `${id} ${level}`);

    it('The doctor gives the same results, warnings and faults as the check', async () => {
      expect(await ends(providers.environment())).toEqual(idsOnPages.map(() => 'providers.provider ok'));
      const secret = 'a wrong secret of google';
      const wrong = await look({ ...providers.environment(), GOOGLE_CLIENT_SECRET: secret });
      expect(wrong.filter(({ level }) => level !== 'ok')).toEqual([
        expect.objectContaining({ level: 'fault', seen: 'google: it does not take our client id and secret.' }),
      ]);
      expect(JSON.stringify(wrong)).not.toContain(secret);
    });

    it('The doctor reports every fault of the file and nothing about what is not configured', async () => {
      const file = providers.write('faulty.json', '{"providers": [{"kind": "oidc"}], "apple": {}}');
      const found = await ends({ PROVIDERS_FILE: file });
      expect(found.length).toBeGreaterThan(3);
      expect(new Set(found)).toEqual(new Set(['providers.file fault']));
      expect(await ends({})).toEqual([]);
    });
  });
});
