import type { UpstreamIdentity } from '../../server/federation/identity.ts';
import { decide, loadFacts } from '../../server/federation/provisioning-decision.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { startWithProviders } from '../support/foyer-with-providers.ts';
import { toNormalisedEmail, toProviderId } from '../support/ids.ts';
import type { TestProviders } from '../support/providers.ts';
import { backends } from '../support/stores.ts';
import { comeBy, somebody } from './steps.ts';

describe.each(backends)('two tabs at once at a provider, on $name', (backend) => {
  let providers: TestProviders;
  let foyer: TestFoyer;
  startWithProviders(
    backend,
    (started) => started.environment(),
    (setting) => {
      ({ foyer, providers } = setting);
    },
  );

  it('A user whom another tab creates between two reads signs in by the link and gets no offer to link', async () => {
    const subject = '515151515151515151515';
    const ada = somebody(providers, 'google', { subject });
    const identity: UpstreamIdentity = {
      ...({
        provider: toProviderId('google'),
        kind: 'google',
        issuer: 'https://accounts.google.com',
        subject,
      } as const),
      email: toNormalisedEmail(ada.email ?? ''),
      emailVerified: true,
      givenName: 'Ada',
      familyName: 'Lovelace',
      picture: undefined,
      session: { provider: toProviderId('google') },
    };
    const { database } = foyer.stores;
    let looks = 0;
    const overtaken = database.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        looks += 1;
        if (looks === 1) await comeBy(providers, foyer.browser(), 'google', ada);
        return result;
      },
    });
    const facts = await loadFacts({ database: Object.create(database, { db: { value: overtaken } }) }, identity);
    expect(facts.linked?.email).toBe(ada.email);
    expect(decide(identity, { signUp: true }, facts).kind).toBe('sign-in');
  });
});
