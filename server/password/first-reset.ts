import type { Request, Response } from 'express';
import { accountOf, someAwaitPassword, type User } from '../account/index.ts';
import { type Errand, setRetryAfter } from '../http/index.ts';
import { decoyAddress, type Mail } from '../messages/index.ts';
import { consumeLimits, rateLimits } from '../rate-limits/index.ts';
import type { PasswordDeps } from './deps.ts';
import { askForCode, languageFor } from './forgot.ts';
import { addressWith, waitText } from './page-support.ts';
import { accountDigest, isStillTheirs } from './reset-flows.ts';

/** Whether a member came from another service without a password, and has not set one yet. */
export const awaitsPassword = (user: Pick<User, 'importedAt' | 'passwordHash' | 'disabledAt'>): boolean =>
  user.importedAt !== null && user.passwordHash === null && user.disabledAt === null;

export type FirstReset =
  /** A code is on its way: where it is typed in. */
  | { kind: 'begun'; address: string }
  /** No code for now; in words. */
  | { kind: 'refused'; text: string };

/**
 * Leads a member who came without a password to their first: as 'forgot password' does, by the same limits, with a word on
 * why. Whoever tries again in the same browser comes back to the code that is under way.
 * @param username as it was typed
 */
export async function beginFirstReset(
  deps: PasswordDeps,
  req: Request,
  res: Response,
  { user, username, errand }: { user: User; username: string; errand: Errand },
): Promise<FirstReset> {
  const { codes, flows, devices } = deps;
  const typed = username.trim();
  const address = addressWith('/reset-password', errand, { username: typed, notice: 'moved' });
  const underWay = await flows.find(flows.readCookie(req));
  if (underWay?.account === accountDigest(codes, accountOf(typed)) && isStillTheirs(codes, underWay, user)) {
    return { kind: 'begun', address };
  }
  const { t, language: lang } = req;
  const asked = await askForCode(
    deps,
    { username: typed, lang },
    { ip: req.ip ?? '', device: (member) => devices.recognise(req, member) },
  );
  deps.log.info({ act: 'first-reset', outcome: asked.kind }, 'first password');
  if (asked.kind === 'asked') {
    flows.setCookie(res, asked.flow);
    return { kind: 'begun', address };
  }
  const { refusal } = asked;
  // The member is there; only the limits are left to refuse.
  if (!('retryAfterMs' in refusal)) throw new Error(`a first password was refused: ${refusal.kind}`);
  setRetryAfter(res, refusal.retryAfterMs);
  return { kind: 'refused', text: waitText(t, refusal.kind, refusal.retryAfterMs) };
}

/** Whose password was refused: a member who awaits their first one, or anybody else. */
export interface Refused {
  username: string;
  /** Undefined: everybody who must not be told apart from such a member. */
  awaiting: User | undefined;
}

/**
 * With uniform answers the page treats a member without a password like a wrong password, and a mail explains how to set the
 * first one. Every other refused password causes the same work with a decoy, after the answer; installations without such
 * members have nothing to conceal and skip it.
 */
export function hintAtFirstReset(
  { kv, database, outbox, codes, log }: PasswordDeps,
  req: Request,
  res: Response,
  { username, awaiting: user }: Refused,
): void {
  const { language: lang } = req;
  res.once('close', () => {
    const hint = async () => {
      if (!(await someAwaitPassword(database.db))) return;
      const account = codes.groupOf({ purpose: 'reset-password', account: user?.id ?? accountOf(username.trim()) });
      // One a day, however many try to sign in as the member.
      if (!(await consumeLimits(kv, rateLimits.firstPasswordHint, { account })).allowed) return;
      const mail: Mail<'first-password'> = {
        channel: 'mail',
        to: user?.email ?? decoyAddress,
        template: 'first-password',
        lang: languageFor(user, lang),
        values: { givenName: user?.givenName ?? '' },
      };
      await database.transaction((trx) => outbox.add(trx, mail, { decoy: user === undefined, delayed: true }));
      outbox.wake();
    };
    hint().catch((error: unknown) => log.warn({ err: error }, 'a hint at the first password could not be mailed'));
  });
}
