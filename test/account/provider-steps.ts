import { listIdentities } from '../../server/federation/index.ts';
import type { User } from '../../server/users/index.ts';
import { answerOf, comeBy, type Kind, type Person } from '../federation/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import type { TestFoyer } from '../support/foyer.ts';
import { formFieldsOf } from '../support/provider-forms.ts';
import { providerIds } from '../support/provider-kinds.ts';
import type { TestProviders } from '../support/providers.ts';
import { refreshOf } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';

export const providersPath = '/settings/providers';
export const linkPath = (kind: Kind) => `${providersPath}/link?provider=${providerIds[kind]}`;
export const removePath = (id: string) => `${providersPath}/remove?link=${id}`;

/** Presses "Go to Google"; returns the address of the provider. */
export async function beginLink(browser: Browser, kind: Kind): Promise<string> {
  const answer = await browser.post(linkPath(kind));
  if (answer.status !== 200) throw new Error(`Link answered ${answer.status} ${answer.headers.get('location')}`);
  return refreshOf(await answer.text());
}

/** Presses the button; returns the address at Foyer to which the provider redirects. */
export async function answeredLink(providers: TestProviders, browser: Browser, kind: Kind, who: Person) {
  return answerOf(providers, kind, who, await beginLink(browser, kind));
}

/** Links an account of a provider. */
export async function link(providers: TestProviders, browser: Browser, kind: Kind, who: Person): Promise<Response> {
  if (kind !== 'saml') return browser.get(await answeredLink(providers, browser, kind, who), { from: 'cross-site' });
  const address = await beginLink(browser, kind);
  providers.answerAs(who, kind);
  const fields = formFieldsOf(await (await sendRequest(address)).text());
  const elsewhere = { origin: providers.url, 'sec-fetch-site': 'cross-site' };
  return browser.get(locationOf(await browser.post('/federation/acme-saml/acs', fields, elsewhere)));
}

export const linksOf = (foyer: TestFoyer, user: Pick<User, 'id'>) => listIdentities(foyer.deps.database.db, user.id);

/** What an answer leads to, as a path of Foyer's with its query. */
/** After Facebook's answer an empty fragment stands behind the address. */
export const ledTo = (answer: Response) => [answer.status, answer.headers.get('location')?.replace(/#$/, '')];

/** A user without a password who has just signed in by this provider. */
export async function memberBy(
  foyer: TestFoyer,
  providers: TestProviders,
  kind: Kind,
  who: Person,
): Promise<{ user: User; browser: Browser }> {
  const user = await foyer.addUser();
  await link(providers, await foyer.signedIn(user), kind, who);
  const { db } = foyer.deps.database;
  await db.updateTable('users').set({ passwordHash: null }).where('id', '=', user.id).execute();
  const browser = foyer.browser();
  const answer = await comeBy(providers, browser, kind, who);
  if (answer.status !== 303) throw new Error(`the provider led to ${answer.status}: ${await answer.text()}`);
  return { user: { ...user, passwordHash: null }, browser };
}

/** The mails about links, the oldest first. */
export async function toldOf(foyer: TestFoyer, email: string): Promise<(string | undefined)[][]> {
  const mails = (await foyer.mails(email)).filter(({ values }) => String(values.change).startsWith('provider-'));
  return mails.map(({ values }) => [String(values.change), values.detail as string | undefined]);
}
