import type { SamlResponseOptions } from '../../sandbox/providers/index.ts';
import { listIdentities } from '../../server/federation/index.ts';
import { findUserByIdentifier, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { startProviders, type TestProviders } from '../support/providers.ts';
import { answerXml, arrive, beginSaml } from '../support/saml.ts';
import type { Backend } from '../support/stores.ts';

export const formats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
};

/** What the provider says of a person. */
export interface Facts {
  mail?: string;
  givenName?: string;
  sn?: string;
}

/** A Foyer with SAML providers whose subjects are user names, numbers, and addresses that the operator vouches for. */
export function setUpReusedNames(backend: Backend) {
  let providers: TestProviders;
  let foyer: TestFoyer;
  beforeAll(async () => {
    providers = await startProviders();
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '100000',
      SIGN_UP_LIMIT_ADDRESS: '100000',
      ...providers.environment((file) => {
        const saml = file.providers[1] as Record<string, unknown>;
        const more = (id: string, change: object) => ({ ...saml, id, entityId: `https://${id}.example`, ...change });
        return {
          ...file,
          providers: [
            ...file.providers,
            more('by-number', { domains: ['number.example'], subject: 'number' }),
            more('vouched', { domains: ['vouched.example'], permanentNameIdFormats: [formats.email] }),
            more('closed', { domains: ['closed.example'], signUp: false }),
          ],
        };
      }),
    });
  });
  afterAll(async () => {
    await foyer?.close();
    await providers?.close();
  });

  const db = () => foyer.stores.database.db;
  const member = (email: string) => findUserByIdentifier(db(), { email: toNormalisedEmail(email) });
  const linksOf = ({ id }: User) => listIdentities(db(), id);
  const accept = (user: User) =>
    db().updateTable('users').set({ acceptedTosVersion: foyer.deps.terms.number }).where('id', '=', user.id).execute();
  const signedInAs = async (browser: Browser) => {
    const page = await browser.get('/settings');
    return page.status === 200 ? page.text() : undefined;
  };

  async function come(nameId: string, facts: Facts, change: SamlResponseOptions = {}, provider = 'acme-saml') {
    const attempt = await beginSaml(foyer, { provider });
    const issuer = provider === 'acme-saml' ? {} : { issuer: `https://${provider}.example` };
    const said = { ...issuer, nameId, nameIdFormat: formats.unspecified, attributes: { ...facts }, ...change };
    const to = await arrive(foyer, attempt, await answerXml(providers, attempt, said));
    return { to, browser: attempt.browser };
  }

  let people = 0;
  /** Each name, address and number of a test has one of its own. */
  const newNumber = () => {
    people += 1;
    return people;
  };
  /** A user who signed up by the provider under this user name. */
  async function memberBy(change: SamlResponseOptions = {}, provider = 'acme-saml', domain = 'corp.acme.example') {
    const number = newNumber();
    const facts = { mail: `lovelace.${number}@${domain}`, givenName: 'Ada', sn: 'Lovelace' };
    const nameId = `user-${number}`;
    await come(nameId, facts, change, provider);
    const user = await member(facts.mail);
    if (!user) throw new Error('no member was made');
    await accept(user);
    const other = { mail: `jones.${number}@${domain}`, givenName: 'Adam', sn: 'Jones' };
    return { user, nameId, facts, other };
  }

  return {
    get providers() {
      return providers;
    },
    get foyer() {
      return foyer;
    },
    db,
    member,
    linksOf,
    accept,
    signedInAs,
    come,
    newNumber,
    memberBy,
  };
}
