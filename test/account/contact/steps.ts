import { createPendingContactChanges } from '../../../server/account/contact/pending-contact-changes.ts';
import { hostCookies } from '../../../server/http/index.ts';
import { createCodes } from '../../../server/messages/index.ts';
import { deriveKey } from '../../../server/store/index.ts';
import { findUser, type User } from '../../../server/users/index.ts';
import { type Browser, locationOf } from '../../support/browser.ts';
import type { TestFoyer } from '../../support/foyer.ts';
import { type E164, type NormalisedEmail, toE164, toNormalisedEmail, toUserId } from '../../support/ids.ts';

export const newPassword = 'a walk in the rain 4';

/** Where an answer leads, or its status. */
export const leadsTo = (answer: Response): string =>
  answer.status === 303 ? `303 ${locationOf(answer).replace(new URL(answer.url).origin, '')}` : `${answer.status}`;

/** Addresses and numbers that no other test uses. */
let count = 0;
export function fresh(): { email: NormalisedEmail; phone: E164 } {
  count += 1;
  return { email: toNormalisedEmail(`moved${count}@example.net`), phone: toE164(`+4915${200_000_000 + count * 7}`) };
}

export const askForEmail = (browser: Browser, email: string) => browser.post('/settings/email', { email });
export const showEmailCode = (browser: Browser, code: string) => browser.post('/settings/email/code', { code });
export const askForPhone = (browser: Browser, phone: string) =>
  browser.post('/settings/phone', { phone_number: phone });
export const showPhoneCode = (browser: Browser, code: string) => browser.post('/settings/phone/code', { code });

const mailed = async (foyer: TestFoyer, email: string, template: string) =>
  (await foyer.mails(email)).filter((mail) => mail.template === template);

/** The code of the last mail with one. */
export async function emailCode(foyer: TestFoyer, email: string): Promise<string> {
  const code = (await mailed(foyer, email, 'change-email')).at(-1)?.values.code;
  if (typeof code !== 'string') throw new Error(`no code was mailed to ${email}`);
  return code;
}

/** The code of the last text message. */
export async function phoneCode(foyer: TestFoyer, phone: string): Promise<string> {
  const code = /^\d{6}/.exec((await foyer.texts(phone)).at(-1) ?? '')?.[0];
  if (code === undefined) throw new Error(`no code was texted to ${phone}`);
  return code;
}

/** Another code than this one. */
export const otherThan = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');

/** The whole way to another address. */
export async function moveTo(foyer: TestFoyer, browser: Browser, email: string): Promise<void> {
  const asked = await askForEmail(browser, email);
  if (asked.status !== 303) throw new Error(`email answered ${asked.status}: ${await asked.text()}`);
  const shown = await showEmailCode(browser, await emailCode(foyer, email));
  if (leadsTo(shown) !== '303 /settings#settings:email') throw new Error(`email/code answered ${leadsTo(shown)}`);
}

/** The whole way to another number. */
export async function phoneTo(foyer: TestFoyer, browser: Browser, phone: string): Promise<void> {
  const asked = await askForPhone(browser, phone);
  if (asked.status !== 303) throw new Error(`phone answered ${asked.status}: ${await asked.text()}`);
  const shown = await showPhoneCode(browser, await phoneCode(foyer, phone));
  if (leadsTo(shown) !== '303 /settings#settings:phone') throw new Error(`phone/code answered ${leadsTo(shown)}`);
}

/** What the last mail to an address that was replaced carries. */
export async function undoToken(foyer: TestFoyer, oldEmail: string): Promise<string> {
  const url = (await mailed(foyer, oldEmail, 'email-changed')).at(-1)?.values.undoUrl;
  if (typeof url !== 'string') throw new Error(`no link was mailed to ${oldEmail}`);
  return new URL(url).searchParams.get('token') ?? '';
}

export const undoPath = (token: string) => `/undo-email-change?${new URLSearchParams({ token })}`;
export const undo = (browser: Browser, token: string, password = newPassword) =>
  browser.post('/undo-email-change', { token, password, confirm: password });

/** A change that waits for its code, made by hand: also one whose code went to nobody. */
export async function begunEmail({ deps }: TestFoyer, user: User, to: string, decoy: boolean) {
  const { kv, config, boxes, now } = deps;
  const flows = createPendingContactChanges({ kv, cookies: hostCookies(config.https), contactBox: boxes.contact, now });
  const { id, flow } = await flows.begin({ kind: 'email', to: toNormalisedEmail(to) }, user);
  await flows.update(id, { ...flow, decoy });
  const codes = createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) });
  const issued = await codes.issue({ purpose: 'change-email', flow: id, account: to });
  if (!issued.issued) throw new Error(`no code: ${issued.why}`);
  return { id, code: issued.code };
}

/** A change of a member's number that waits for its code, as a call of the JSON API begins one. */
export async function begunPhone({ deps }: TestFoyer, userId: string): Promise<{ flow: string; code: string }> {
  const { kv, config, boxes, database, now } = deps;
  const user = await findUser(database.db, toUserId(userId));
  if (!user) throw new Error('no such member');
  const { phone } = fresh();
  const { id: flow } = await createPendingContactChanges({
    kv,
    cookies: hostCookies(config.https),
    contactBox: boxes.contact,
    now,
  }).begin({ kind: 'phone', to: phone }, user);
  const codes = createCodes({ kv, key: deriveKey(config.SECRET_KEYS[0] ?? '', 'one-time codes', 32) });
  const issued = await codes.issue({ purpose: 'change-phone', flow, account: phone });
  if (!issued.issued) throw new Error(`no code: ${issued.why}`);
  return { flow, code: issued.code };
}

export const rowOf = (foyer: TestFoyer, { id }: Pick<User, 'id'>) =>
  foyer.stores.database.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

export const signIn = (browser: Browser, username: string, password: string) =>
  browser.post('/sign-in', { username, password });

export const templatesTo = async (foyer: TestFoyer, email: string) =>
  (await foyer.mails(email)).map(({ template, values }) => (values.change ? `${template} ${values.change}` : template));
