import { findUserByIdentifier } from '../../server/users/index.ts';
import { answerOf, type Kind, pressButton, somebody } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { codeFlowKinds, providerIds } from '../support/provider-kinds.ts';
import type { TestProviders } from '../support/providers.ts';
import type { Backend } from '../support/stores.ts';

export const kinds = codeFlowKinds;
export const ids = providerIds;

/** A Foyer with every kind of provider, and where a sign-in by one of them ends. */
export function setUpFederation(backend: Backend) {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => ({
      ...started.environment(),
      SIGN_UP_LIMIT_ADDRESS: '100000',
      GUESS_LIMIT_ADDRESS: '100000',
    }),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  const member = (email = '') => findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(email) });
  /** A browser comes from the provider, or from any page with a link to the address. */
  const open = (browser: Browser, url: string) => browser.get(url, { from: 'cross-site' });
  const endAt = (address: string) => {
    const { pathname, hash } = new URL(address);
    return { path: pathname, notice: hash };
  };
  const end = (answer: Response) => endAt(locationOf(answer));
  const refused = (why: string, kind: Kind = 'google') => ({
    path: '/',
    notice: `#federation:${why}/${ids[kind]}`,
  });
  /** A person at this provider, and the address with which the provider answers the attempt. */
  async function answerFor(browser: Browser, kind: Kind = 'google', search = '') {
    const person = somebody(providers, kind);
    const address = await pressButton(browser, kind, { search });
    return { person, answer: await answerOf(providers, kind, person, address) };
  }

  return {
    get providers() {
      return providers;
    },
    get foyer() {
      return foyer;
    },
    member,
    open,
    endAt,
    end,
    refused,
    answerFor,
  };
}
