import type { Browser } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import type { TestProviders } from '../support/providers.ts';
import { arrive, federationLog, type SamlAttempt } from '../support/saml.ts';
import { evilName } from '../support/saml-wrapping.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer with the SAML provider Acme and a provider that encrypts its assertions. */
export function setUpSamlFromOutside(backend: Backend) {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
      ...started.environment((file) => ({
        ...file,
        providers: [
          ...file.providers,
          {
            ...(file.providers[1] as object),
            id: 'sealed',
            entityId: 'https://sealed.example',
            domains: ['sealed.example'],
            encryptedAssertions: true,
          },
        ],
      })),
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
  async function expectRefused(attempt: SamlAttempt, xml: string, detail: string | RegExp): Promise<void> {
    const to = await arrive(foyer, attempt, xml);
    expect(to).toContain('#federation:invalid');
    expect(federationLog(foyer).at(-1)?.detail).toMatch(detail);
    expect(await isSignedIn(attempt.browser)).toBe(false);
    const victim = foyer.stores.database.db.selectFrom('federatedIdentities').select('id');
    expect(await victim.where('subject', '=', evilName).execute()).toEqual([]);
  }

  return {
    get providers() {
      return providers;
    },
    get foyer() {
      return foyer;
    },
    isSignedIn,
    expectRefused,
  };
}
