import type { Transaction } from 'kysely';
import { isSameIdentity, linkCurrentIdentity, type UpstreamIdentity } from '../federation/index.ts';
import { resolveLanguage } from '../http/index.ts';
import { normaliseCode } from '../messages/index.ts';
import type { FlowId, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import {
  AlreadyInUseError,
  claimPartnerDeal,
  confirmEmail,
  findUser,
  insertUser,
  insertUserRecord,
  recordAcceptance,
  type User,
} from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { consumeSignUpCodeGuess } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { markConfirmed, type SignUp } from './sign-up-store.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

export type VerifyEmailResult =
  | {
      kind: 'confirmed';
      user: User;
      remember: boolean;
      continuation: string;
      /** The provider of the sign-up; undefined: it has a password. */
      identity: UpstreamIdentity | undefined;
    }
  /** Fewer than six digits: not checked. */
  | { kind: 'incomplete' }
  | { kind: 'incorrect' }
  /** The code was used or replaced, has expired, or has had too many attempts. */
  | { kind: 'invalidated' }
  /** Too many attempts from this network, or in total: not checked. */
  | { kind: 'too-many'; retryAfterMs: number }
  /** Another sign-up has confirmed this address meanwhile. */
  | { kind: 'already-in-use' }
  | { kind: 'disabled' }
  /** There is nothing to confirm: an unknown flow, or one that is over. */
  | { kind: 'not-found' };

/** Creates the user of a sign-up with all data, in one transaction. */
async function activateUser(
  deps: SignUpRuleDeps,
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
  // Two flows of one sign-up: the unique address lets one through; this stops one flow that is sent twice.
  if (!(await markConfirmed(trx, signUp.id, userId, nowMs))) throw new AlreadyInUseError('email');
  await insertUserRecord(trx, userId, nowMs);
  // The identity at the provider was linked in another way meanwhile.
  const { identity } = signUp;
  if (identity && !(await linkCurrentIdentity(trx, deps.providers(), userId, identity, nowMs)))
    throw new AlreadyInUseError('email');
  if (signUp.terms) await recordAcceptance(trx, { userId, ...signUp.terms }, nowMs);
  if (signUp.source === 'appsumo') await claimPartnerDeal(trx, signUp.email, userId, nowMs);
  return sendWelcomeMail(
    deps,
    trx,
    userId,
    lang,
    identity ? deps.providers().byId(identity.provider)?.name : undefined,
  );
}

/** Writes the welcome mail, and reads the updated user. */
async function sendWelcomeMail(
  { outbox }: SignUpRuleDeps,
  trx: Transaction<Schema>,
  userId: UserId,
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
 * Checks a code. The right one makes a sign-up a user, or confirms the address of a user whom an operator created. The
 * first flow to confirm an address gets it, with the password that was typed in this very flow.
 * @param from.lang of the page on which it was typed; else that of the sign-up
 */
export async function verifyEmail(
  deps: SignUpRuleDeps,
  flowId: FlowId,
  typed: string,
  from: { ip: string; lang?: SignUp['lang'] },
): Promise<VerifyEmailResult> {
  const confirmed = await confirm(deps, flowId, typed, from);
  logOutcome(deps, 'confirm', confirmed.kind);
  return confirmed;
}

async function confirm(
  deps: SignUpRuleDeps,
  flowId: FlowId,
  typed: string,
  { ip, lang }: { ip: string; lang?: SignUp['lang'] },
): Promise<VerifyEmailResult> {
  const { codes, database, flows, outbox, now } = deps;
  const flow = await flows.find(flowId);
  const recipient = flow && (await findUnverifiedSubject(deps, flow));
  if (!flow || !recipient) return { kind: 'not-found' };
  const code = normaliseCode(typed);
  if (code === undefined) return { kind: 'incomplete' };
  const decision = await consumeSignUpCodeGuess(deps.kv, deps.limits, ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const check = await codes.check({ purpose: 'confirm-email', flow: flowId, account: recipient.email }, code);
  if (check !== 'correct') return { kind: check === 'incorrect' ? 'incorrect' : 'invalidated' };
  // It has no recipient, so a guessed code has no effect either.
  if (recipient.kind === 'sign-up' && recipient.signUp.state === 'decoy') return { kind: 'incorrect' };
  await decision.release();

  let user: User | undefined;
  try {
    user = await database.transaction(async (trx) => {
      if (recipient.kind === 'sign-up') return activateUser(deps, trx, recipient.signUp, lang ?? recipient.signUp.lang);
      if (!(await confirmEmail(trx, recipient.user, now()))) return undefined;
      await insertUserRecord(trx, recipient.user.id, now());
      return sendWelcomeMail(
        deps,
        trx,
        recipient.user.id,
        lang ?? resolveLanguage('', recipient.user.locale ?? undefined),
      );
    });
  } catch (error) {
    if (error instanceof AlreadyInUseError || isSameIdentity(error)) return { kind: 'already-in-use' };
    throw error;
  }
  if (!user) return { kind: 'disabled' };
  outbox.wake();
  await flows.write(flowId, { ...flow, confirmedAtMs: now() });
  const { continuation, identity } =
    recipient.kind === 'sign-up' ? recipient.signUp : { continuation: '', identity: null };
  return { kind: 'confirmed', user, remember: flow.remember, continuation, identity: identity ?? undefined };
}
