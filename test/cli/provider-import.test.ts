import { X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { production } from '../attacks/production.ts';
import { cliOn } from '../support/cli.ts';
import {
  discoveryJson,
  emailFormat,
  entitiesXml,
  entityDescriptor,
  type MetadataShape,
  metadataXml,
  persistentFormat,
} from '../support/provider-documents.ts';
import { certificateFor, createProviderFolder, nowhere } from './provider-folder.ts';

const folder = createProviderFolder();
const { at, cli, entry, file, first, importShape, importText, names, start, written } = folder;
const second = certificateFor('second');
const withKey = { serviceProvider: { privateKey: 'saml.key', certificate: 'saml.crt' }, providers: [] };

describe('foyer provider import', () => {
  beforeEach(() => folder.clear());
  afterAll(() => folder.remove());

  it('Importing SAML metadata writes an entry and certificates that the server accepts in production', async () => {
    start(withKey);
    const run = await importShape({
      entityId: 'http://www.acme.example/exk1',
      signing: [first, second],
      encryption: certificateFor('encryption'),
      logout: 'https://idp.acme.example/slo',
      formats: [emailFormat, persistentFormat],
      displayName: 'Acme Corporate',
    });
    expect(run).toMatchObject({ code: 0, err: '' });
    for (const text of ['http://www.acme.example/exk1', 'Acme Corporate', new X509Certificate(second).fingerprint256]) {
      expect(run.out).toContain(text);
    }
    expect(run.out).toContain('Register there: https://login.example.com/federation/acme/metadata');
    const { certificates, ...settings } = entry() ?? { certificates: [] };
    expect(settings).toEqual({
      kind: 'saml',
      id: 'acme',
      name: 'Acme Corporate',
      entityId: 'http://www.acme.example/exk1',
      ssoUrl: 'https://idp.acme.example/sso',
      logoutUrl: 'https://idp.acme.example/slo',
      nameIdFormat: persistentFormat,
    });
    expect(certificates.map((name) => new X509Certificate(readFileSync(at(name))).subject)).toEqual([
      'CN=first',
      'CN=second',
    ]);
    const listed = await cli('provider', 'list');
    expect(listed).toMatchObject({ code: 0, err: '' });
    expect(listed.out).toMatch(/^acme +saml +Acme Corporate/m);
  });

  it('The same import again takes over new certificates and addresses and keeps what the operator has set', async () => {
    const others = [
      { kind: 'oidc', id: 'before', name: 'Before', issuer: 'https://before.example', clientId: 'foyer' },
      { kind: 'oidc', id: 'after', name: 'After', issuer: 'https://after.example', clientId: 'foyer' },
    ];
    const set = {
      name: 'Our Acme',
      label: { de: 'Mit Acme anmelden' },
      domains: ['acme.example'],
      signUp: false,
      secondFactor: 'required',
      nameIdFormat: persistentFormat,
    };
    writeFileSync(at('by-hand.crt'), `A remark of the operator\n${first}`);
    start({
      google: { secondFactor: 'required' },
      providers: [
        others[0],
        {
          kind: 'saml',
          id: 'acme',
          ...set,
          entityId: 'https://idp.acme.example/metadata',
          ssoUrl: 'https://idp.acme.example/old',
          certificates: ['by-hand.crt'],
        },
        others[1],
      ],
    });
    expect(await importShape({ signing: [first, second], displayName: 'Acme' })).toMatchObject({ code: 0, err: '' });
    expect(written()).toMatchObject({ google: { secondFactor: 'required' }, providers: [others[0], set, others[1]] });
    const [known, added] = entry()?.certificates ?? [];
    expect([known, added]).toEqual(['by-hand.crt', expect.stringMatching(/^acme-[0-9a-f]{16}\.crt$/)]);
    expect(entry()?.ssoUrl).toBe('https://idp.acme.example/sso');
    expect(readFileSync(at('by-hand.crt'), 'utf8')).toContain('A remark of the operator');
    // As the operator indents.
    expect(readFileSync(file, 'utf8')).toMatch(/^ {4}"google"/m);
    const before = readFileSync(file, 'utf8');
    expect((await importShape({ signing: [first, second] })).out).toContain('acme: unchanged');
    expect(readFileSync(file, 'utf8')).toBe(before);
    const next = await importShape({ signing: [second] });
    expect(next.out).toContain('by-hand.crt is no longer in use');
    expect(entry()?.certificates).toEqual([added]);
  });

  it('The file keeps its mode and its link, and a new one is readable by its owner alone', async () => {
    expect(await importShape({})).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    chmodSync(file, 0o640);
    expect(await importShape({ signing: [second] })).toMatchObject({ code: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o640);
    symlinkSync(file, at('link.json'));
    const linked = cliOn(nowhere, { ...production, PROVIDERS_FILE: at('link.json') });
    writeFileSync(at('metadata.xml'), metadataXml({ signing: [first, second] }));
    expect(await linked('provider', 'import', at('metadata.xml'), '--id', 'acme')).toMatchObject({ code: 0 });
    expect(entry()?.certificates).toHaveLength(2);
    expect(names().filter((name) => name.startsWith('providers.json.'))).toEqual([]);
  });

  it('Requests are signed where the metadata want it, which needs a key of Foyer', async () => {
    const refusal = await importShape({ wantsSignedRequests: true });
    expect(refusal).toMatchObject({ code: 1, err: expect.stringContaining('want signed requests') });
    expect(names()).not.toContain('providers.json');
    start(withKey);
    expect(await importShape({ wantsSignedRequests: true })).toMatchObject({ code: 0 });
    expect(entry()?.signRequests).toBe(true);
    // The operator may sign more than the metadata want.
    expect(await importShape({ wantsSignedRequests: false })).toMatchObject({ code: 0 });
    expect(entry()?.signRequests).toBe(true);
  });

  it('A document of several entities needs an entity id, unless one alone is an identity provider', async () => {
    const acme = entityDescriptor({ signing: [first] });
    const globex = entityDescriptor({ entityId: 'https://idp.globex.example', signing: [second] });
    const service =
      '<md:EntityDescriptor entityID="https://sp.example"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"/></md:EntityDescriptor>';
    expect(await importText(entitiesXml(service, acme))).toMatchObject({ code: 0 });
    expect(entry()?.entityId).toBe('https://idp.acme.example/metadata');
    rmSync(file);
    expect(await importText(entitiesXml(acme, globex))).toMatchObject({
      code: 1,
      err: expect.stringContaining('several identity providers'),
    });
    expect(await importText(entitiesXml(acme, globex), '--entity-id', 'https://idp.globex.example')).toMatchObject({
      code: 0,
    });
    expect(entry()?.entityId).toBe('https://idp.globex.example');
    expect(await importText(entitiesXml(acme, globex), '--entity-id', 'https://nobody.example')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no such entityID'),
    });
    expect(await importText(acme, '--entity-id', 'https://nobody.example')).toMatchObject({ code: 1 });
  });

  it('The import takes the address for requests by form where the metadata name no other', async () => {
    const signOnByPost = 'https://idp.acme.example/sso/post';
    expect(await importShape({ signOn: undefined, signOnByPost })).toMatchObject({ code: 0 });
    expect(entry()).toMatchObject({ ssoUrl: signOnByPost, requestBinding: 'post' });
    expect(await importShape({ signOnByPost })).toMatchObject({ code: 0 });
    expect(entry()).toMatchObject({ ssoUrl: signOnByPost, requestBinding: 'post' });
  });

  it.each<[string, MetadataShape, string]>([
    ['metadata that have ended', { validUntil: '2020-01-01T00:00:00Z' }, 'ended on 2020-01-01'],
    ['an end that is no time', { validUntil: 'soon' }, 'validUntil is no time'],
    ['no certificate', { signing: [] }, 'no signing certificate'],
    ['no address for requests', { signOn: undefined }, 'HTTP-Redirect'],
    ['an address for requests without TLS', { signOn: 'http://idp.acme.example/sso' }, 'ssoUrl: write an absolute'],
    ['an address of this machine in production', { signOn: 'http://localhost/sso' }, 'ssoUrl: must begin with https'],
  ])('The import refuses %s and writes nothing', async (_what, shape, reason) => {
    expect(await importShape(shape)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) });
    expect(names()).toEqual(['metadata.xml']);
  });

  it.each([
    ['an external entity', '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>', 'document type'],
    ['entities that expand', `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(99)}"><!ENTITY b "&a;&a;">]>`, 'document type'],
    ['a processing instruction', '<?xml-stylesheet href="https://evil.example"?>', 'processing instruction'],
    ['a CDATA section', '<md:EntityDescriptor><![CDATA[x]]></md:EntityDescriptor>', 'CDATA'],
    ['another encoding', '<?xml version="1.0" encoding="utf-7"?>', 'encoding'],
    ['neither XML nor JSON', 'entityID=https://idp.acme.example', 'neither XML nor JSON'],
    ['JSON that is no discovery document', '{"providers": []}', 'lacks issuer'],
    ['more than a megabyte', `<a>${'x'.repeat(1_100_000)}</a>`, 'more than 1048576 bytes'],
  ])('The import refuses a document with %s', async (_what, text, reason) => {
    const run = await importText(`${text}${text.startsWith('<!D') ? entityDescriptor({ signing: [first] }) : ''}`);
    expect(run).toMatchObject({ code: 1, out: '', err: expect.stringContaining(reason) });
  });

  it('An id or a name that could leave the folder or the terminal is refused or escaped', async () => {
    const run = await importShape({ displayName: 'Ac\u0085me' });
    expect(run.out).not.toContain('\u0085');
    rmSync(file);
    writeFileSync(at('metadata.xml'), metadataXml({ signing: [first] }));
    for (const id of ['../evil', 'Acme Inc', 'link']) {
      expect(await cli('provider', 'import', at('metadata.xml'), '--id', id)).toMatchObject({
        code: 1,
        err: expect.stringContaining('id: '),
      });
    }
    const before = names();
    expect(await cli('provider', 'import', at('metadata.xml'), '--id', 'google')).toMatchObject({ code: 1 });
    expect(names()).toEqual(before);
  });

  it('An entry never becomes another provider’s, because links of members belong to its entity or issuer', async () => {
    expect(await importShape({})).toMatchObject({ code: 0 });
    const before = readFileSync(file, 'utf8');
    const other = await importShape({ entityId: 'https://other.example' });
    expect(other).toMatchObject({ code: 1, err: expect.stringContaining('https://other.example; links of members') });
    expect(await importText(discoveryJson('https://id.acme.example'), '--client-id', 'foyer')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is of the kind saml'),
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('Expired certificates are left out while another one is valid', async () => {
    const run = await importShape({ signing: [certificateFor('past', -1), first] });
    expect(run.out).toContain('signing certificates that have expired: 1, left out');
    expect(entry()?.certificates).toHaveLength(1);
  });

  it('A document may come by the standard input, in which a service’s user need not find a file', async () => {
    const text = metadataXml({ signing: [first] });
    expect(await cli.withInput(text, 'provider', 'import', '-', '--id', 'acme')).toMatchObject({ code: 0, err: '' });
    expect(entry()).not.toHaveProperty('metadataUrl');
    const long = await cli.withInput(`<a>${'x'.repeat(1_100_000)}</a>`, 'provider', 'import', '-', '--id', 'acme');
    expect(long).toMatchObject({ code: 1, err: expect.stringContaining('more than 1048576 bytes') });
  });

  it('A dry run shows the findings and changes nothing', async () => {
    const run = await importShape({}, '--dry-run');
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('would be added') });
    expect(names()).toEqual(['metadata.xml']);
    expect((await importShape({}, '--dry-run', '--json')).json()).toMatchObject({ action: 'added', dry_run: true });
  });

  it('Faults of the configuration have exit code 4, and a missing id has exit code 2', async () => {
    writeFileSync(at('metadata.xml'), metadataXml({ signing: [first] }));
    expect(await cli('provider', 'import', at('metadata.xml'))).toMatchObject({ code: 2 });
    const none = cliOn(nowhere, production);
    expect(await none('provider', 'import', at('metadata.xml'), '--id', 'acme')).toMatchObject({
      code: 4,
      err: expect.stringContaining('PROVIDERS_FILE is not set'),
    });
    writeFileSync(file, '{"providers":');
    expect(await importShape({})).toMatchObject({ code: 4, err: expect.stringContaining('no JSON') });
    start({ providers: [{ kind: 'ldap' }] });
    expect(await importShape({})).toMatchObject({ code: 1, err: expect.stringContaining('providers.0.kind') });
    expect(entry()).toBeUndefined();
  });
});
