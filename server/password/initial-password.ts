import type { Continuation, RequestContext } from '../http/index.ts';
import { AddressWithNotice, consumeLimits, type NextPage, rateLimits } from '../http/index.ts';
import { decoyAddress, type Mail } from '../messages/index.ts';
import { someAwaitPassword, toAccountKey, type User } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';
import { resetNotices, retryAfterText, withParams } from './password-texts.ts';
import { mailLanguage, requestReset } from './request-reset.ts';
import { accountDigest, isOwnerUnchanged } from './reset-records.ts';

/** Tests whether an imported user has no password yet. */
export const needsInitialPassword = (user: Pick<User, 'importedAt' | 'passwordHash' | 'disabledAt'>): boolean =>
  user.importedAt !== null && user.passwordHash === null && user.disabledAt === null;

type InitialPasswordResult =
  /** A code was sent: the page for it. */
  | { kind: 'begun'; page: NextPage }
  /** No code for now; the reason in words. */
  | { kind: 'refused'; text: string };

/**
 * Leads an imported user without a password to their first one: like 'forgot password', with the same limits, and an
 * explanation. A repeated attempt in the same browser returns to the code that was already sent.
 * @param username as it was typed
 */
export async function startInitialPassword(
  r: RequestContext,
  deps: PasswordDeps,
  { user, username, continuation }: { user: User; username: string; continuation: Continuation },
): Promise<InitialPasswordResult> {
  const { codes, flows, devices } = deps;
  const typed = username.trim();
  const page = new AddressWithNotice(
    withParams('/reset-password', continuation, { username: typed }),
    resetNotices.moved,
  );
  const underWay = await flows.find(flows.readCookie(r.req));
  if (underWay?.account === accountDigest(codes, toAccountKey(typed)) && isOwnerUnchanged(codes, underWay, user)) {
    return { kind: 'begun', page };
  }
  const { t, lang } = r;
  const requester = { lang, ip: r.ip, device: (member: User) => devices.recognise(r.req, member) };
  const requested = await requestReset(deps, requester, { username: typed });
  r.log.info({ act: 'first-reset', outcome: requested.kind }, 'first password');
  if (requested.kind === 'asked') {
    flows.setCookie(r.res, requested.flow);
    return { kind: 'begun', page };
  }
  const { refusal } = requested;
  // The user exists; only the limits can still refuse.
  if (!('retryAfterMs' in refusal)) throw new Error(`a first password was refused: ${refusal.kind}`);
  r.setRetryAfter(refusal.retryAfterMs);
  return { kind: 'refused', text: retryAfterText(t, refusal.kind, refusal.retryAfterMs) };
}

/** The user whose password was refused: an imported one without a password, or any other. */
interface Refused {
  username: string;
  /** Undefined for everyone who must be indistinguishable from such a user. */
  awaiting: User | undefined;
}

/**
 * With uniform answers the page treats a member without a password like a wrong password, and a mail explains how to set the
 * first one. Every other refused password causes the same work with a decoy, after the answer; installations without such
 * members have nothing to conceal and skip it.
 */
export function mailInitialPasswordHint(
  r: RequestContext,
  { kv, database, outbox, codes }: PasswordDeps,
  { username, awaiting: user }: Refused,
): void {
  const { lang, log } = r;
  r.res.once('close', () => {
    const hint = async () => {
      if (!(await someAwaitPassword(database.db))) return;
      const account = codes.messageGroup({
        purpose: 'reset-password',
        account: user?.id ?? toAccountKey(username.trim()),
      });
      // One mail a day, however often someone tries to sign in as the user.
      if (!(await consumeLimits(kv, rateLimits.firstPasswordHint, { account })).allowed) return;
      const mail: Mail<'first-password'> = {
        channel: 'mail',
        to: user?.email ?? decoyAddress,
        template: 'first-password',
        lang: mailLanguage(user, lang),
        values: { givenName: user?.givenName ?? '' },
      };
      await database.transaction((trx) => outbox.add(trx, mail, { decoy: user === undefined, delayed: true }));
      outbox.wake();
    };
    hint().catch((error: unknown) => log.warn({ err: error }, 'could not mail the initial password hint'));
  });
}
