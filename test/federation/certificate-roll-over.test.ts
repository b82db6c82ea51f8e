import type { Server } from 'node:http';
import { makeSigner, type Signer, signElement } from '../../sandbox/providers/index.ts';
import { cliOn } from '../support/cli.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { entityDescriptor, type MetadataShape, metadataXml } from '../support/provider-documents.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const signerFor = () => makeSigner('Acme', Date.now() - dayMs, Date.now() + 400 * dayMs);

describe('certificates from signed metadata', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let server: Server;
  let anchor: Signer;
  let next: Signer;
  /** The answer of the address of the metadata; undefined: it does not answer. */
  let metadata: string | undefined;
  let requests = 0;
  let passedMs = 0;

  const publish = (shape: MetadataShape, signer = anchor) => {
    const xml = entityDescriptor({ entityId: providers.saml.entityId, id: '_m', ...shape });
    metadata = signElement(xml, '_m', signer);
  };
  const come = async (signer: Signer, provider = 'acme-saml') => {
    const attempt = await beginSaml(foyer, { provider });
    return arrive(foyer, attempt, await answerXml(providers, attempt, { signer }));
  };
  const inside = /^\/(?:tos|$)/;
  const refused = '#federation:invalid';
  const renewDaily = async () => {
    for (const { saml } of foyer.app.federation.providers.all) await saml?.renewDaily?.();
  };

  let environment: Record<string, string> = {};
  async function open(change: Record<string, unknown> = {}) {
    const { port } = server.address() as { port: number };
    environment = providers.environment((file) => {
      const entry = file.providers[1];
      const refresh = {
        metadataUrl: `http://127.0.0.1:${port}/metadata`,
        metadataRefresh: 'signed',
        signRequests: false,
      };
      Object.assign(entry ?? {}, refresh, {
        metadataCertificate: providers.write('anchor.crt', anchor.certificate),
      });
      Object.assign(entry ?? {}, change);
      return file;
    });
    const limits = { GUESS_LIMIT_ADDRESS: '100000' };
    foyer = await startFoyer(anyBackend, { ...limits, ...environment }, { now: () => Date.now() + passedMs });
  }

  beforeAll(async () => {
    providers = await startProviders();
    anchor = signerFor();
    next = signerFor();
    const listened = await listenOnFreePort((_req, res) => {
      requests += 1;
      if (metadata === undefined) res.destroy();
      else res.end(metadata);
    });
    server = listened.server;
  });
  beforeEach(() => {
    metadata = undefined;
    requests = 0;
    passedMs = 0;
  });
  afterEach(() => foyer?.close());
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await providers?.close();
  });

  it('The first sign-in by a new certificate succeeds, and the old certificate no longer signs in', async () => {
    await open();
    publish({ signing: [providers.samlSigner.certificate] });
    expect(await come(providers.samlSigner)).toMatch(inside);
    expect(requests).toBe(0);
    publish({ signing: [next.certificate] });
    expect(await come(next)).toMatch(inside);
    expect(await come(providers.samlSigner)).toContain(refused);
    expect(foyer.logged()).toContain('certificates taken over from signed metadata');
  });

  it('Answers by an unknown certificate cause one fetch in five minutes', async () => {
    await open();
    publish({ signing: [providers.samlSigner.certificate] });
    for (let count = 0; count < 3; count += 1) expect(await come(next)).toContain(refused);
    expect(requests).toBe(1);
  });

  it('Certificates are taken over once a day without a sign-in, and stay when the fetch fails', async () => {
    await open();
    publish({ signing: [providers.samlSigner.certificate, next.certificate] });
    await renewDaily();
    await renewDaily();
    expect(requests).toBe(1);
    passedMs = dayMs + minuteMs;
    metadata = undefined;
    await renewDaily();
    expect(requests).toBe(2);
    expect(foyer.logged()).toContain('metadata not taken over');
    passedMs = 0;
    expect(await come(next)).toMatch(inside);
    expect(await come(providers.samlSigner)).toMatch(inside);
  });

  it('Metadata that have ended count no more', async () => {
    await open();
    publish({ signing: [next.certificate], validUntil: new Date(Date.now() + minuteMs).toISOString() });
    await renewDaily();
    expect(await come(next)).toMatch(inside);
    metadata = undefined;
    passedMs = 2 * minuteMs;
    const attempt = await beginSaml(foyer);
    const later = { issuedAtMs: Date.now() + passedMs, notOnOrAfterMs: Date.now() + 9 * minuteMs, signer: next };
    expect(await arrive(foyer, attempt, await answerXml(providers, attempt, later))).toContain(refused);
  });

  it.each<[string, () => void]>([
    [
      'without a signature',
      () => (metadata = metadataXml({ entityId: providers.saml.entityId, signing: [next.certificate] })),
    ],
    ['signed by another key', () => publish({ signing: [next.certificate] }, next)],
    ['of another entity', () => publish({ signing: [next.certificate], entityId: 'https://else.example' })],
    ['that have ended', () => publish({ signing: [next.certificate], validUntil: '2020-01-01T00:00:00Z' })],
    ['of more than a megabyte', () => (metadata = `<a>${'x'.repeat(1_100_000)}</a>`)],
  ])('Metadata %s leave the certificates as they are', async (_what, write) => {
    await open();
    write();
    expect(await come(next)).toContain(refused);
    expect(requests).toBe(1);
    expect(await come(providers.samlSigner)).toMatch(inside);
  });

  it('Addresses of the metadata are never taken over, so requests cannot be led elsewhere or lose TLS', async () => {
    await open();
    publish({
      signing: [next.certificate],
      signOn: 'http://idp.evil.example/sso',
      logout: 'http://idp.evil.example/slo',
    });
    await renewDaily();
    const { url } = await beginSaml(foyer);
    expect(url.href.startsWith(providers.url)).toBe(true);
  });

  it('Without a certificate for metadata those in force verify them, so each one introduces the next', async () => {
    await open({ metadataCertificate: undefined });
    const third = signerFor();
    publish({ signing: [providers.samlSigner.certificate, next.certificate] }, providers.samlSigner);
    await renewDaily();
    publish({ signing: [third.certificate] }, next);
    passedMs = dayMs + minuteMs;
    await renewDaily();
    passedMs = 0;
    expect(await come(third)).toMatch(inside);
    publish({ signing: [next.certificate] }, providers.samlSigner);
    passedMs = 2 * dayMs + 2 * minuteMs;
    await renewDaily();
    passedMs = 0;
    expect(await come(next)).toContain(refused);
  });

  it('After a start, signed metadata are verified by the certificates that were taken over before', async () => {
    await open({ metadataCertificate: undefined, signRequests: undefined });
    publish({ signing: [next.certificate] }, providers.samlSigner);
    await renewDaily();
    publish({ signing: [next.certificate], wantsSignedRequests: true }, next);
    foyer.app.reload();
    expect((await beginSaml(foyer)).url.searchParams.has('Signature')).toBe(true);
    expect(foyer.logged()).not.toContain('whether it wants signed requests stays as it was');
  });

  it('The check reports signed metadata that a running server takes over as no fault', async () => {
    await open();
    publish({
      signing: [next.certificate],
      signOn: `${providers.saml.entityId.replace(/metadata$/, 'sso')}`,
      logout: `${providers.saml.entityId.replace(/metadata$/, 'slo')}`,
    });
    const check = cliOn(foyer.stores.urls, environment);
    const report = async () => (await check('provider', 'check', 'acme-saml', '--json')).json().providers;
    expect(await report()).toEqual([expect.objectContaining({ faults: [], warnings: [] })]);
    publish({ signing: [next.certificate] }, next);
    expect(await report()).toEqual([
      expect.objectContaining({
        faults: expect.arrayContaining([expect.stringContaining('cannot be taken over (they are not signed by this')]),
      }),
    ]);
  });

  it('A reload keeps the certificates that were taken over', async () => {
    await open();
    publish({ signing: [next.certificate] });
    await renewDaily();
    metadata = undefined;
    foyer.app.reload();
    expect(await come(next)).toMatch(inside);
  });
});
