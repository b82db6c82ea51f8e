import type { ProviderKind } from '../../config/standard-providers.ts';
import { findUserByIdentifier, type User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import { providerIds } from '../support/provider-kinds.ts';
import type { TestProviders } from '../support/providers.ts';
import { refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

export type Kind = ProviderKind;
export type Person = TestProviders['people']['google']['ada'];

export interface Asked {
  /** The query of the page with the button: `?…`. */
  search?: string;
  remember?: boolean;
}

/** Presses the button of a provider; returns the address of the provider. */
export async function pressButton(
  browser: Browser,
  kind: Kind,
  { search = '', remember }: Asked = {},
): Promise<string> {
  const answer = await browser.post(`/federation/${providerIds[kind]}${search}`, remember ? { remember: '1' } : {});
  if (answer.status !== 200) throw new Error(`the button answered ${answer.status} ${answer.headers.get('location')}`);
  return refreshOf(await answer.text());
}

/** The address at Foyer to which the provider redirects this person. */
export async function answerOf(providers: TestProviders, kind: Kind, who: Person, address: string): Promise<string> {
  providers.answerAs(who, kind);
  const answer = await sendRequest(address, { redirect: 'manual' });
  return locationOf(answer);
}

/** Signs in by a provider; returns the answer of Foyer. */
export async function comeBy(
  providers: TestProviders,
  browser: Browser,
  kind: Kind,
  who: Person,
  asked: Asked = {},
): Promise<Response> {
  const address = await pressButton(browser, kind, asked);
  if (kind !== 'saml') return browser.get(await answerOf(providers, kind, who, address), { from: 'cross-site' });
  providers.answerAs(who, kind);
  const fields = formFieldsOf(await (await sendRequest(address)).text());
  const posted = await browser.post('/federation/acme-saml/acs', fields, {
    origin: providers.url,
    'sec-fetch-site': 'cross-site',
  });
  return browser.get(locationOf(posted));
}

let people = 0;

/** A new person at this provider; Google and the companies confirm the address. */
export function somebody(providers: TestProviders, kind: Kind, change: Partial<Person> = {}): Person {
  people += 1;
  const { ada } = providers.people[kind];
  const email = `person${people}@${ada.email?.split('@')[1]}`;
  return { ...ada, email, ...change };
}

/** The path and query of a redirect, without the empty fragment that follows an answer of Facebook. */
export const pathOf = (foyer: TestFoyer, answer: Response): string =>
  locationOf(answer).replace(foyer.url, '').replace(/#$/, '');

/** A user who signed up by a provider and accepted the terms. */
export async function memberBy(
  foyer: TestFoyer,
  providers: TestProviders,
  kind: Exclude<Kind, 'facebook' | 'amazon'>,
): Promise<{ user: User; who: Person }> {
  const who = somebody(providers, kind);
  await comeBy(providers, foyer.browser(), kind, who);
  const { db } = foyer.stores.database;
  const accepted = { acceptedTosVersion: foyer.deps.terms.number };
  await db
    .updateTable('users')
    .set(accepted)
    .where('email', '=', toNormalisedEmail(who.email ?? ''))
    .execute();
  const user = await findUserByIdentifier(db, { email: toNormalisedEmail(who.email ?? '') });
  if (!user) throw new Error(`${who.email} is no member`);
  return { user, who };
}
