import type { Transaction } from 'kysely';
import {
  claimPartnerDeal,
  confirmEmail,
  findUser,
  insertUser,
  insertUserRecord,
  recordAcceptance,
  Taken,
  type User,
} from '../account/index.ts';
import { wholeCode } from '../codes/index.ts';
import { isSameIdentity, linkWhoCame, type UpstreamIdentity } from '../federation/index.ts';
import { languageOf } from '../http/index.ts';
import type { Schema } from '../store/index.ts';
import type { RuleDeps } from './deps.ts';
import { admitCodeGuess } from './limits.ts';
import { report } from './report.ts';
import { markConfirmed, type SignUp } from './sign-up-store.ts';
import { unconfirmedOf } from './unconfirmed.ts';

export type Confirmed =
  | {
      kind: 'confirmed';
      user: User;
      remember: boolean;
      errand: string;
      /** By which provider the account was begun; undefined: with a password. */
      identity: UpstreamIdentity | undefined;
    }
  /** Fewer than six digits: nothing was looked at. */
  | { kind: 'incomplete' }
  | { kind: 'wrong' }
  /** The code is used up, replaced or too old, or was guessed at too often. */
  | { kind: 'void' }
  /** Too many guesses came from there, or from everywhere: nothing was looked at. */
  | { kind: 'too-many'; retryAfterMs: number }
  /** Somebody else has confirmed this address meanwhile. */
  | { kind: 'taken' }
  | { kind: 'disabled' }
  /** There is nothing to confirm: an unknown flow, or one that is over. */
  | { kind: 'gone' };

/** The member that an account becomes, with everything that belongs to one; in one transaction. */
async function becomeMember(
  deps: RuleDeps,
  trx: Transaction<Schema>,
  signUp: SignUp,
  lang: SignUp['lang'],
): Promise<User> {
  const nowMs = deps.now();
  const { id: userId } = await insertUser(
    trx,
    {
      email: signUp.email,
      emailVerified: true,
      passwordHash: signUp.identity === null ? signUp.passwordHash : null,
      givenName: signUp.givenName,
      familyName: signUp.familyName,
      locale: lang,
      source: signUp.source,
    },
    nowMs,
  );
  // Two flows of one account at the same moment: the address let one through, this stops the one flow sent twice.
  if (!(await markConfirmed(trx, signUp.id, userId, nowMs))) throw new Taken('email');
  await insertUserRecord(trx, userId, nowMs);
  // Who they are at the provider has come in by another way meanwhile.
  const { identity } = signUp;
  if (identity && !(await linkWhoCame(trx, deps.providers(), userId, identity, nowMs))) throw new Taken('email');
  if (signUp.terms) await recordAcceptance(trx, { userId, ...signUp.terms }, nowMs);
  if (signUp.source === 'appsumo') await claimPartnerDeal(trx, signUp.email, userId, nowMs);
  return greeted(deps, trx, userId, lang, identity ? deps.providers().byId(identity.provider)?.name : undefined);
}

/** Writes the welcome, and reads the member as they are now. */
async function greeted(
  { outbox }: RuleDeps,
  trx: Transaction<Schema>,
  userId: string,
  lang: SignUp['lang'],
  provider?: string,
): Promise<User> {
  const user = await findUser(trx, userId);
  if (!user) throw new Error('a member who was just confirmed is not there');
  const { email, givenName } = user;
  await outbox.add(trx, {
    channel: 'mail',
    to: email,
    template: 'welcome',
    lang,
    values: { givenName, ...(provider && { provider }) },
  });
  return user;
}

/**
 * Checks a code. The right one makes an account a member, or confirms the address of one that an operator made. Whoever
 * confirms an address first has it; the password is the one that was typed in this very flow.
 *
 * @param from.lang of the page on which it was typed; else the one in which the account was begun
 */
export async function confirmSignUp(
  deps: RuleDeps,
  flowId: string,
  typed: string,
  from: { ip: string; lang?: SignUp['lang'] },
): Promise<Confirmed> {
  const confirmed = await confirm(deps, flowId, typed, from);
  report(deps, 'confirm', confirmed.kind);
  return confirmed;
}

async function confirm(
  deps: RuleDeps,
  flowId: string,
  typed: string,
  { ip, lang }: { ip: string; lang?: SignUp['lang'] },
): Promise<Confirmed> {
  const { codes, database, flows, outbox, now } = deps;
  const flow = await flows.find(flowId);
  const whom = flow && (await unconfirmedOf(deps, flow));
  if (!flow || !whom) return { kind: 'gone' };
  const code = wholeCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const decision = await admitCodeGuess(deps.kv, deps.limits, ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const check = await codes.check({ purpose: 'confirm-email', flow: flowId, account: whom.email }, code);
  if (check !== 'right') return { kind: check === 'wrong' ? 'wrong' : 'void' };
  // Its code went to nobody; one that was guessed opens nothing either.
  if (whom.kind === 'sign-up' && whom.signUp.state === 'decoy') return { kind: 'wrong' };
  await decision.release();

  let user: User | undefined;
  try {
    user = await database.transaction(async (trx) => {
      if (whom.kind === 'sign-up') return becomeMember(deps, trx, whom.signUp, lang ?? whom.signUp.lang);
      if (!(await confirmEmail(trx, whom.user, now()))) return undefined;
      await insertUserRecord(trx, whom.user.id, now());
      return greeted(deps, trx, whom.user.id, lang ?? languageOf('', whom.user.locale ?? undefined));
    });
  } catch (error) {
    if (error instanceof Taken || isSameIdentity(error)) return { kind: 'taken' };
    throw error;
  }
  if (!user) return { kind: 'disabled' };
  outbox.wake();
  await flows.write(flowId, { ...flow, confirmedAtMs: now() });
  const { errand, identity } = whom.kind === 'sign-up' ? whom.signUp : { errand: '', identity: null };
  return { kind: 'confirmed', user, remember: flow.remember, errand, identity: identity ?? undefined };
}
