import type { Server } from 'node:http';
import { listenOnFreePort, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import { type Sealing, seal } from '../support/saml-encryption.ts';
import { anyBackend } from '../support/stores.ts';

/** A provider that encrypts, and whose certificates are taken over from its signed metadata. */
describe('decryption of SAML assertions where certificates roll over, attacked', () => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  let server: Server;
  beforeAll(async () => {
    providers = await startProviders();
    const listened = await listenOnFreePort((_req, res) => void res.end('<none/>'));
    server = listened.server;
    const environment = providers.environment((file) => {
      const refresh = { metadataUrl: `http://127.0.0.1:${listened.port}/metadata`, metadataRefresh: 'signed' };
      Object.assign(file.providers[1] ?? {}, refresh, { encryptedAssertions: true, signRequests: false });
      return file;
    });
    const limits = { GUESS_LIMIT_ADDRESS: '100000' };
    foyer = await startFoyer(anyBackend, { ...limits, ...environment });
  });
  afterAll(async () => {
    await foyer?.close();
    server?.closeAllConnections();
    server?.close();
    await providers?.close();
  });

  /** @returns the number of times that an answer, which is refused, asks for a look at the metadata */
  async function looksAfter(sealing: Partial<Sealing>, change: (assertion: string) => string = (text) => text) {
    const asked = jest.spyOn(foyer.deps.kv, 'setIfAbsent');
    const attempt = await beginSaml(foyer);
    const whole = await answerXml(providers, attempt, { sign: 'assertion' });
    const assertion = /<\/samlp:Status>(.*)<\/samlp:Response>/s.exec(whole)?.[1] ?? '';
    const key = { for: providers.serviceProvider.certificate, cipher: 'aes-128-cbc' as const };
    const sealed = seal(change(assertion), { ...key, ...sealing });
    const xml = await answerXml(providers, attempt, { sign: 'none', assertion: sealed });
    expect(await arrive(foyer, attempt, xml)).toContain('#federation:invalid');
    const looks = asked.mock.calls.filter(([name]) => name.startsWith('federation-metadata-asked:'));
    asked.mockRestore();
    return looks.length;
  }
  const flipped = (bytes: Buffer) => {
    const other = Buffer.from(bytes);
    const index = Math.floor(bytes.length / 2);
    other[index] = (other[index] ?? 0) ^ 1;
    return other;
  };

  it('Attack: a padding oracle by looks at the metadata learns nothing, because every failure causes one', async () => {
    const changed = await looksAfter({}, (text) => text.replace(/<saml:Audience>/, '<saml:Audience>x'));
    expect(changed).toBe(1);
    const seen: Record<string, number> = {
      'a wrong key': await looksAfter({ changeKey: flipped }),
      'a modified cipher text': await looksAfter({ changeData: flipped }),
      'a modified tag': await looksAfter({ cipher: 'aes-256-gcm', changeData: flipped }),
      'padding of no byte': await looksAfter({ paddingLength: 0 }),
      'no XML': await looksAfter({}, () => 'no XML'),
      'another element': await looksAfter({}, () => '<a/>'),
      'no signature': await looksAfter({}, (text) => text.replace(/<ds:Signature[ >].*<\/ds:Signature>/s, '')),
    };
    expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, 1])));
  });
});
