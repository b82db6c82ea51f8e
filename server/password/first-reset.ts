import type { Request, Response } from 'express';
import { accountOf, type User } from '../account/index.ts';
import { type Errand, setRetryAfter } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { askForCode, languageFor } from './forgot.ts';
import { addressWith, waitText } from './page-support.ts';
import { accountDigest, isStillTheirs } from './reset-flows.ts';

/** A hint is mailed at most so often, however many try to sign in as the member. */
const hintEveryMs = 24 * 60 * 60_000;

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
  const { codes, flows, pages, devices } = deps;
  const typed = username.trim();
  const address = addressWith('/reset-password', errand, { username: typed, notice: 'moved' });
  const underWay = await flows.find(flows.idOf(req));
  if (underWay?.account === accountDigest(codes, accountOf(typed)) && isStillTheirs(codes, underWay, user)) {
    return { kind: 'begun', address };
  }
  const { t, lang } = pages.context(req, res);
  const asked = await askForCode(
    deps,
    { username: typed, lang },
    { ip: req.ip ?? '', device: (member) => devices.recognise(req, member) },
  );
  deps.log.info({ act: 'first-reset', outcome: asked.kind }, 'first password');
  if (asked.kind === 'asked') {
    flows.giveTo(res, asked.flow);
    return { kind: 'begun', address };
  }
  const { refusal } = asked;
  // The member is there; only the limits are left to refuse.
  if (!('retryAfterMs' in refusal)) throw new Error(`a first password was refused: ${refusal.kind}`);
  setRetryAfter(res, refusal.retryAfterMs);
  return { kind: 'refused', text: waitText(t, refusal.kind, refusal.retryAfterMs) };
}

/**
 * Where nobody is told who is a member, the page says what it says of a wrong password, and the member learns by mail how to
 * come in. After the answer, so that the time tells nothing either.
 */
export function hintAtFirstReset(
  { kv, database, outbox, pages, log }: PasswordDeps,
  req: Request,
  res: Response,
  user: User,
): void {
  const { lang } = pages.context(req, res);
  res.once('close', () => {
    const hint = async () => {
      const { count } = await kv.increment(`first-reset-hint:${user.id}`, hintEveryMs);
      if (count > 1) return;
      await database.transaction((trx) =>
        outbox.add(trx, {
          channel: 'mail',
          to: user.email,
          template: 'first-password',
          lang: languageFor(user, lang),
          values: { givenName: user.givenName },
        }),
      );
      outbox.wake();
    };
    hint().catch((error: unknown) => log.warn({ err: error }, 'a hint at the first password could not be mailed'));
  });
}
