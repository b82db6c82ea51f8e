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
import { findUnverifiedSubject, type UnverifiedSubject } from './unverified-subject.ts';

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

/** A submitted code. */
export interface SubmittedCode {
  flowId: FlowId;
  code: string;
  ip: string;
  /** Of the page on which it was typed; else that of the sign-up. */
  lang?: SignUp['lang'];
}

/** Creates the user of a sign-up with all data, in one transaction. */
async function activateUser(
  trx: Transaction<Schema>,
  deps: SignUpRuleDeps,
  { signUp, lang }: { signUp: SignUp; lang: SignUp['lang'] },
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
  if (!(await markConfirmed(trx, signUp.id, { userId, nowMs }))) throw new AlreadyInUseError('email');
  await insertUserRecord(trx, userId, nowMs);
  // The identity at the provider was linked in another way meanwhile.
  const { identity } = signUp;
  if (identity && !(await linkCurrentIdentity(trx, deps.providers, { userId, identity, nowMs })))
    throw new AlreadyInUseError('email');
  if (signUp.terms) await recordAcceptance(trx, { userId, ...signUp.terms }, nowMs);
  if (signUp.source === 'appsumo') await claimPartnerDeal(trx, signUp.email, { userId, nowMs });
  const provider = identity ? deps.providers.byId(identity.provider)?.name : undefined;
  return reportCreation(trx, deps, { userId, lang, provider });
}

/** @returns the updated user */
async function reportCreation(
  trx: Transaction<Schema>,
  { hooks }: SignUpRuleDeps,
  { userId, ...created }: { userId: UserId; lang: SignUp['lang']; provider?: string | undefined },
): Promise<User> {
  const user = await findUser(trx, userId);
  if (!user) throw new Error('a member who was just confirmed is not there');
  await hooks.onUserCreated(trx, { user, ...created });
  return user;
}

/**
 * Checks a code. The right one makes a sign-up a user, or confirms the address of a user whom an operator created. The
 * first flow to confirm an address gets it, with the password that was typed in this very flow.
 */
export async function verifyEmail(deps: SignUpRuleDeps, submitted: SubmittedCode): Promise<VerifyEmailResult> {
  const result = await confirm(deps, submitted);
  logOutcome(deps, 'confirm', result.kind);
  return result;
}

/** @returns the reason against a code; undefined: it is right */
async function checkCode(
  deps: SignUpRuleDeps,
  subject: UnverifiedSubject,
  submitted: SubmittedCode,
): Promise<(VerifyEmailResult & { kind: 'incomplete' | 'incorrect' | 'invalidated' | 'too-many' }) | undefined> {
  const code = normaliseCode(submitted.code);
  if (code === undefined) return { kind: 'incomplete' };
  const decision = await consumeSignUpCodeGuess(deps.kv, deps.limits, submitted.ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const owner = { purpose: 'confirm-email', flow: submitted.flowId, account: subject.email } as const;
  const check = await deps.codes.check(owner, code);
  if (check !== 'correct') return { kind: check === 'incorrect' ? 'incorrect' : 'invalidated' };
  // It has no recipient, so a guessed code has no effect either.
  if (subject.kind === 'sign-up' && subject.signUp.state === 'decoy') return { kind: 'incorrect' };
  await decision.release();
  return undefined;
}

/** The code was right. @returns undefined if the user is disabled or deleted by now */
function confirmSubject(
  deps: SignUpRuleDeps,
  subject: UnverifiedSubject,
  lang: SignUp['lang'] | undefined,
): Promise<User | undefined> {
  return deps.database.transaction(async (trx) => {
    if (subject.kind === 'sign-up') {
      const { signUp } = subject;
      return activateUser(trx, deps, { signUp, lang: lang ?? signUp.lang });
    }
    const { user } = subject;
    if (!(await confirmEmail(trx, user, deps.now()))) return undefined;
    await insertUserRecord(trx, user.id, deps.now());
    const mailLang = lang ?? resolveLanguage('', user.locale ?? undefined);
    return reportCreation(trx, deps, { userId: user.id, lang: mailLang });
  });
}

async function confirm(deps: SignUpRuleDeps, submitted: SubmittedCode): Promise<VerifyEmailResult> {
  const { flows, outbox, now } = deps;
  const { flowId } = submitted;
  const flow = await flows.find(flowId);
  const subject = flow && (await findUnverifiedSubject(deps, flow));
  if (!flow || !subject) return { kind: 'not-found' };
  const refused = await checkCode(deps, subject, submitted);
  if (refused) return refused;

  let user: User | undefined;
  try {
    user = await confirmSubject(deps, subject, submitted.lang);
  } catch (error) {
    if (error instanceof AlreadyInUseError || isSameIdentity(error)) return { kind: 'already-in-use' };
    throw error;
  }
  if (!user) return { kind: 'disabled' };
  outbox.wake();
  await flows.write(flowId, { ...flow, confirmedAtMs: now() });
  const { continuation, identity } = subject.kind === 'sign-up' ? subject.signUp : { continuation: '', identity: null };
  return { kind: 'confirmed', user, remember: flow.remember, continuation, identity: identity ?? undefined };
}
