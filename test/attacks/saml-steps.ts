import { noticeOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { federationLog, type SamlAttempt } from '../support/saml.ts';
import { evilAddress, evilName } from '../support/saml-wrapping.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer with the SAML provider Acme, a rival of it, and a provider that encrypts. */
export function setUpSaml(backend: Backend) {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    const rival = providers.write('rival.crt', providers.otherSigner().certificate);
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '100000',
      ...providers.environment((file) => ({
        ...file,
        providers: [
          ...file.providers,
          {
            ...(file.providers[1] as object),
            id: 'rival',
            name: 'Rival',
            entityId: 'https://rival.example',
            domains: [],
            certificates: [rival],
          },
          {
            ...(file.providers[1] as object),
            id: 'sealed',
            entityId: 'https://sealed.example',
            domains: [],
            encryptedAssertions: true,
          },
        ],
      })),
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const isSignedIn = async ({ browser }: SamlAttempt) => (await browser.get('/')).status === 303;
  const last = () => federationLog(foyer).at(-1);

  /**
   * No user is signed in, the page shows a general notice, and the log states the reason without quoting the message.
   */
  async function expectRefused(attempt: SamlAttempt, to: string, outcome: string, detail: string): Promise<void> {
    expect(noticeOf(to)).toBe(`federation:${outcome}`);
    expect(last()).toMatchObject({ outcome, detail });
    expect(await isSignedIn(attempt)).toBe(false);
    const logged = foyer.logged();
    for (const secret of [evilName, evilAddress, providers.people.saml.ada.email ?? '', 'another-app.example'])
      expect(logged).not.toContain(secret);
  }
  const changed = (from: string | RegExp, to: string) => (xml: string) => {
    const other = xml.replace(from, to);
    if (other === xml) throw new Error(`nothing to change: ${from}`);
    return other;
  };

  return {
    get providers() {
      return providers;
    },
    get foyer() {
      return foyer;
    },
    isSignedIn,
    last,
    expectRefused,
    changed,
  };
}
