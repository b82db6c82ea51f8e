import type { Transaction } from 'kysely';
import { isSameIdentity, linkCurrentIdentity, type UpstreamIdentity } from '../federation/index.ts';
import { resolveLanguage } from '../http/index.ts';
import { normaliseCode } from '../messages/index.ts';
import type { FlowId, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import {
  AlreadyInUseError,
  type CreatedUser,
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
import { findVerification, type UnverifiedAccount } from './sign-up-records.ts';
import { type SignUpRefusal, transition } from './sign-up-state.ts';
import { markConfirmed, type SignUp } from './sign-up-store.ts';

interface ConfirmedEmail {
  kind: 'confirmed';
  user: User;
  remember: boolean;
  continuation: string;
  /** The provider of the sign-up; undefined: it has a password. */
  identity: UpstreamIdentity | undefined;
}

/** `too-many`: too many attempts from this network, or in total; not checked. */
export type VerifyEmailRefusal =
  | { [Kind in SignUpRefusal]: { kind: Kind } }[SignUpRefusal]
  | { kind: 'too-many'; retryAfterMs: number };
export type VerifyEmailResult = ConfirmedEmail | VerifyEmailRefusal;

/** A submitted code. */
export interface SubmittedCode {
  flowId: FlowId;
  code: string;
  ip: string;
  /** Of the page on which it was typed; else that of the sign-up. */
  lang?: SignUp['lang'];
  /** Of the page or call; a visitor from a provider has the trial of the post-signup flow on each. */
  flow: CreatedUser['flow'];
}

/** Creates the user of a sign-up with all data, in one transaction. */
async function activateUser(
  trx: Transaction<Schema>,
  deps: SignUpRuleDeps,
  { signUp, lang, flow }: { signUp: SignUp } & Pick<CreatedUser, 'lang' | 'flow'>,
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
      zoneinfo: signUp.zoneinfo,
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
  return reportCreation(trx, deps, { userId, lang, provider, flow: identity ? 'post-sign-up' : flow });
}

/** @returns the updated user */
async function reportCreation(
  trx: Transaction<Schema>,
  { hooks }: SignUpRuleDeps,
  { userId, ...created }: { userId: UserId } & Omit<CreatedUser, 'user'>,
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

async function checkCode(
  deps: SignUpRuleDeps,
  account: UnverifiedAccount,
  submitted: SubmittedCode,
): Promise<ReturnType<typeof transition> | Extract<VerifyEmailResult, { kind: 'too-many' }>> {
  const code = normaliseCode(submitted.code);
  if (code === undefined) return transition(account, { kind: 'code-checked', check: 'incomplete' });
  const decision = await consumeSignUpCodeGuess(deps.kv, deps.limits, submitted.ip);
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const owner = { purpose: 'confirm-email', flow: submitted.flowId, account: account.email } as const;
  const next = transition(account, { kind: 'code-checked', check: await deps.codes.check(owner, code) });
  if (next.kind !== 'refused') await decision.release();
  return next;
}

/** The code was right. @returns `disabled` if the user is disabled or deleted by now */
async function confirmAccount(
  deps: SignUpRuleDeps,
  account: UnverifiedAccount,
  { lang, flow }: Pick<SubmittedCode, 'lang' | 'flow'>,
): Promise<User | 'already-in-use' | 'disabled'> {
  try {
    return await deps.database.transaction(async (trx) => {
      if (account.kind !== 'unverified-user') {
        const { signUp } = account;
        return activateUser(trx, deps, { signUp, lang: lang ?? signUp.lang, flow });
      }
      const { user } = account;
      if (!(await confirmEmail(trx, user, deps.now()))) return 'disabled';
      await insertUserRecord(trx, user.id, deps.now());
      const mailLang = lang ?? resolveLanguage('', user.locale ?? undefined);
      return reportCreation(trx, deps, { userId: user.id, lang: mailLang, flow });
    });
  } catch (error) {
    if (error instanceof AlreadyInUseError || isSameIdentity(error)) return 'already-in-use';
    throw error;
  }
}

async function confirm(deps: SignUpRuleDeps, submitted: SubmittedCode): Promise<VerifyEmailResult> {
  const { flows, outbox, now } = deps;
  const { flowId } = submitted;
  const pending = await findVerification(deps, flowId);
  if (!pending) return { kind: 'not-found' };
  const { flow, account } = pending;
  const proven = await checkCode(deps, account, submitted);
  if (proven.kind === 'too-many') return proven;
  if (proven.kind === 'refused') return { kind: proven.why };
  const result = await confirmAccount(deps, account, submitted);
  const confirmed = transition(proven, { kind: 'account-confirmed', result });
  if (confirmed.kind === 'refused') return { kind: confirmed.why };
  outbox.wake();
  await deps.hooks.afterUserCreated(confirmed.user.id);
  await flows.write(flowId, { ...flow, confirmedAtMs: now() });
  const { continuation, identity } = 'signUp' in account ? account.signUp : { continuation: '', identity: null };
  return {
    kind: 'confirmed',
    user: confirmed.user,
    remember: flow.remember,
    continuation,
    identity: identity ?? undefined,
  };
}
