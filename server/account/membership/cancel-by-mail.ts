import { cancelByMailPath, membershipPath } from '../../../views/account/tabs.ts';
import type { AnnouncedEnd, ProratedEndResult } from '../../billing/index.ts';
import { consumeLimits, type Language, rateLimits, resolveLanguage } from '../../http/index.ts';
import { decoyAddress, type Mail } from '../../messages/index.ts';
import { hourMs, randomToken, sha256, toUserId } from '../../shared/index.ts';
import { findUser, findUserByIdentifier, normaliseEmail, toAccountKey, type User } from '../../users/index.ts';
import type { AccountDeps } from '../deps.ts';

/** The page of the link. */
export const cancelLinkPath = `${cancelByMailPath}/link`;

const validMs = 24 * hourMs;

const linkKey = (secret: string) => `cancel-link:${sha256(secret)}`;

export type CancelLinkRefusal = { kind: 'malformed' } | { kind: 'too-many'; retryAfterMs: number };
type RequestCancelLinkResult = { kind: 'sent' } | { kind: 'refused'; refusal: CancelLinkRefusal };

type CancelByMailDeps = Pick<
  AccountDeps,
  'database' | 'kv' | 'outbox' | 'publicUrl' | 'membership' | 'password' | 'log' | 'now'
>;

/**
 * Mails a link that cancels the membership, without a sign-in. Without a user it does the same work with a decoy: one
 * entry, one transaction with one mail in it. So the answer does not reveal who has an account.
 */
export async function requestCancelLink(
  deps: CancelByMailDeps,
  typed: string,
  { ip, lang }: { ip: string; lang: Language },
): Promise<RequestCancelLinkResult> {
  const { database, kv, outbox, publicUrl, password, now } = deps;
  const email = normaliseEmail(typed);
  if (email === undefined) return { kind: 'refused', refusal: { kind: 'malformed' } };
  const decision = await consumeLimits(kv, rateLimits.cancelLink, { address: ip, account: toAccountKey(email) });
  if (!decision.allowed) {
    return { kind: 'refused', refusal: { kind: 'too-many', retryAfterMs: decision.retryAfterMs } };
  }
  const found = await findUserByIdentifier(database.db, { email });
  const user = found?.disabledAt === null ? found : undefined;
  const secret = randomToken();
  const nowMs = now();
  await kv.set(linkKey(secret), user?.id ?? '', validMs);
  const mail: Mail<'cancel-link'> = {
    channel: 'mail',
    to: user?.email ?? decoyAddress,
    template: 'cancel-link',
    lang: resolveLanguage(lang, user?.locale ?? undefined),
    values: {
      givenName: user?.givenName ?? '',
      pageLink: `${publicUrl}${membershipPath}`,
      cancelUrl: `${publicUrl}${cancelLinkPath}?${new URLSearchParams({ token: secret })}`,
      atMs: nowMs,
      validUntilMs: nowMs + validMs,
    },
    expiresAtMs: nowMs + validMs,
  };
  const delayed = password.uniformAnswers;
  await database.transaction((trx) => outbox.add(trx, mail, { decoy: user === undefined, delayed }));
  outbox.wake();
  return { kind: 'sent' };
}

/** The user whose membership a link's token cancels. */
export async function findCancelLink(
  { database, kv }: Pick<CancelByMailDeps, 'database' | 'kv'>,
  token: string,
): Promise<User | undefined> {
  if (!/^[\w-]{43}$/.test(token)) return undefined;
  const userId = await kv.get(linkKey(token));
  const user = userId ? await findUser(database.db, toUserId(userId)) : undefined;
  return user?.disabledAt === null ? user : undefined;
}

/** Tests whether the page announced what is given back now. */
async function isAsAnnounced(
  { membership }: CancelByMailDeps,
  { id }: User,
  { endsAt, refundCents, creditCents }: AnnouncedEnd,
): Promise<boolean> {
  const end = await membership.quoteEnd(id);
  if (end?.endsAt !== endsAt) return false;
  return (end.amounts?.refundCents ?? null) === refundCents && (end.amounts?.creditCents ?? null) === creditCents;
}

/** Cancels the membership of a link, once. @param announced what its page has said; undefined: it ends with its period */
export async function cancelByLink(
  deps: CancelByMailDeps,
  token: string,
  announced?: AnnouncedEnd,
): Promise<'cancelled' | 'not-found' | ProratedEndResult> {
  const user = await findCancelLink(deps, token);
  // The link stays valid, because nothing has happened.
  if (user && announced && !(await isAsAnnounced(deps, user, announced))) return 'changed';
  // Of several parallel clicks one cancels.
  if (!user || (await deps.kv.takeOnce(linkKey(token))) === null) return 'not-found';
  const { membership } = deps;
  const cancelled = announced ? await membership.endProrated(user, announced) : await membership.cancel(user);
  deps.log.info(
    { act: 'membership-cancelled', by: 'link', member: user.id, outcome: cancelled },
    'membership cancelled',
  );
  return cancelled;
}
