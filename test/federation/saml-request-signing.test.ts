import type { Server } from 'node:http';
import { makeSigner, readRedirect, signElement } from '../../sandbox/providers/index.ts';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { entityDescriptor, type MetadataShape, metadataXml } from '../support/provider-documents.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { goingOnTo } from '../support/saml.ts';
import { anyBackend } from '../support/stores.ts';

const minuteMs = 60_000;

describe('signed requests by the wish of the metadata', () => {
  let providers: TestProviders;
  let foyer: TestFoyer | undefined;
  let server: Server;
  /** Undefined: the address of the metadata does not answer. */
  let metadata: string | undefined;
  let requests = 0;
  let passedMs = 0;
  const signer = makeSigner('Acme', Date.now() - minuteMs, Date.now() + 60 * minuteMs);

  beforeAll(async () => {
    providers = await startProviders();
    ({ server } = await listenOnFreePort((_req, res) => {
      requests += 1;
      if (metadata === undefined) res.destroy();
      else res.end(metadata);
    }));
  });
  beforeEach(() => {
    requests = 0;
    passedMs = 0;
  });
  afterEach(async () => {
    await foyer?.close();
    foyer = undefined;
  });
  afterAll(async () => {
    server?.closeAllConnections();
    server?.close();
    await providers?.close();
  });

  const write = (wantsSignedRequests: boolean | undefined, shape: MetadataShape = {}) => {
    const wish = wantsSignedRequests === undefined ? {} : { wantsSignedRequests };
    metadata = metadataXml({ entityId: providers.saml.entityId, signing: [signer.certificate], ...wish, ...shape });
  };
  async function open(change: Record<string, unknown> = {}): Promise<TestFoyer> {
    const { port } = server.address() as { port: number };
    const environment = providers.environment((file) => {
      const entry = file.providers[1] ?? {};
      Object.assign(entry, { metadataUrl: `http://127.0.0.1:${port}/metadata`, signRequests: undefined }, change);
      return file;
    });
    const limits = { GUESS_LIMIT_ADDRESS: '100000' };
    foyer = await startFoyer(anyBackend, { ...limits, ...environment }, { now: () => Date.now() + passedMs });
    return foyer;
  }
  /** Whether a request is signed by Foyer's key; it is signed rightly or not at all. */
  async function signs(own: TestFoyer): Promise<boolean> {
    const { search, searchParams } = await goingOnTo(await own.browser().post('/federation/acme-saml'));
    const isSigned = readRedirect(search)?.isSignedBy(providers.serviceProvider.certificate) ?? false;
    expect(searchParams.has('Signature')).toBe(isSigned);
    return isSigned;
  }
  const says = async (own: TestFoyer) => {
    const xml = await (await own.browser().get('/federation/acme-saml/metadata')).text();
    return /AuthnRequestsSigned="(true|false)"/.exec(xml)?.[1];
  };

  it('Requests are signed where the metadata want it, and our own metadata say so, with one look an hour', async () => {
    write(true);
    const own = await open();
    expect([await signs(own), await says(own), await signs(own), requests]).toEqual([true, 'true', true, 1]);
  });

  it.each([false, undefined])('Requests are not signed where the metadata say %s', async (wish) => {
    write(wish);
    const own = await open();
    expect([await says(own), await signs(own)]).toEqual(['false', false]);
  });

  it('A change of the wish is followed after an hour', async () => {
    write(false);
    const own = await open();
    expect(await signs(own)).toBe(false);
    write(true);
    passedMs = 59 * minuteMs;
    expect(await signs(own)).toBe(false);
    passedMs = 61 * minuteMs;
    expect([await signs(own), await says(own)]).toEqual([true, 'true']);
  });

  it.each([
    [true, false],
    [false, true],
  ])('The setting %s wins over the wish %s, and the metadata are not fetched', async (signRequests, wish) => {
    write(wish);
    const own = await open({ signRequests });
    expect([await signs(own), await says(own), requests]).toEqual([signRequests, String(signRequests), 0]);
  });

  it('Metadata that cannot be read leave it as it was, keep nobody from signing in, and are asked for again later', async () => {
    metadata = undefined;
    const own = await open();
    expect([await signs(own), await signs(own), requests]).toEqual([false, false, 1]);
    expect(own.logged()).toContain('metadata not read');
    write(true);
    passedMs = 6 * minuteMs;
    expect(await signs(own)).toBe(true);
    metadata = undefined;
    passedMs = 120 * minuteMs;
    expect(await signs(own)).toBe(true);
  });

  it('Attack: the wish of another entity is not followed', async () => {
    write(true, { entityId: 'https://else.example' });
    const own = await open();
    expect(await signs(own)).toBe(false);
  });

  it('Attack: where metadata must be signed, an unsigned wish and one of a foreign key are not followed', async () => {
    const signed = (key: typeof signer) => {
      const shape = { entityId: providers.saml.entityId, id: '_m', signing: [signer.certificate] };
      metadata = signElement(entityDescriptor({ ...shape, wantsSignedRequests: true }), '_m', key);
    };
    const own = await open({
      metadataRefresh: 'signed',
      metadataCertificate: providers.write('anchor.crt', signer.certificate),
    });
    write(true);
    expect(await signs(own)).toBe(false);
    signed(providers.otherSigner());
    passedMs = 6 * minuteMs;
    expect(await signs(own)).toBe(false);
    signed(signer);
    passedMs = 12 * minuteMs;
    expect([await signs(own), await says(own)]).toEqual([true, 'true']);
  });
});
