import { type FederationHooks, type UnverifiedAddress, usableNames } from '../federation/index.ts';
import { type Continuation, keptSearch, type RequestContext } from '../http/index.ts';
import { codeMinutes } from '../messages/index.ts';
import type { User } from '../users/index.ts';
import { findUserByIdentifier } from '../users/index.ts';
import type { SignUpDeps } from './deps.ts';
import { consumeSignUp } from './limits.ts';
import { logOutcome } from './log-outcome.ts';
import { addCodeMail } from './send-code.ts';
import { insertSignUp } from './sign-up-store.ts';

/** Sets the trial of a user whom a provider has just created. @returns the step PLAN, if there is one */
export async function afterFederatedSignUp(
  { plans }: SignUpDeps,
  user: User,
  continuation: Continuation,
): Promise<string | undefined> {
  if (!plans.sold) return undefined;
  await plans.settleTrial(user, 'post-sign-up');
  return user.planId === null ? `/post-signup/plan${continuation.search}` : undefined;
}

export type FederatedSignUpResult = Awaited<ReturnType<FederationHooks['startEmailVerification']>>;

/**
 * A sign-up with a provider that does not vouch for the address: a code to the address confirms it. Before that there
 * is no user, and no password opens it. Answers like a sign-up with a password (start-sign-up.ts): with uniform answers
 * the same for an address that already belongs to a user, without effect.
 */
export async function startFederatedSignUp(
  r: RequestContext,
  deps: SignUpDeps,
  signUp: UnverifiedAddress,
): Promise<FederatedSignUpResult> {
  const started = await startOnce(r, deps, signUp).catch((error: unknown) => {
    logOutcome(deps, 'begin', 'failed');
    throw error;
  });
  logOutcome(deps, 'begin', started.kind);
  return started;
}

async function startOnce(
  r: RequestContext,
  deps: SignUpDeps,
  { identity, continuation, remember, company }: UnverifiedAddress,
): Promise<FederatedSignUpResult> {
  const { database, kv, codes, outbox, flows, plans, now } = deps;
  const { lang } = r;
  const { email } = identity;
  const decision = await consumeSignUp(kv, deps.limits, { ip: r.ip, company });
  if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
  const member = await findUserByIdentifier(database.db, { email });
  if (member && !deps.uniformAnswers) return { kind: 'already-in-use' };
  const flow = flows.newId();
  const issued = await codes.issue({ purpose: 'confirm-email', flow, account: email });
  // The address has reached its daily limit of codes.
  if (!issued.issued) return { kind: 'too-many', retryAfterMs: issued.retryAfterMs };
  const names = usableNames(identity);
  const nowMs = now();
  const { id } = await database.transaction(async (trx) => {
    const inserted = await insertSignUp(
      trx,
      {
        email,
        ...names,
        passwordHash: '',
        identity,
        lang,
        source: 'general',
        planKey: null,
        terms: null,
        continuation: keptSearch(continuation.search),
        state: member ? 'decoy' : 'begun',
      },
      nowMs,
    );
    const { givenName } = names;
    const expiresAtMs = nowMs + codeMinutes * 60_000;
    await addCodeMail(trx, deps, { kind: 'sign-up', email, givenName, lang, code: issued.code, expiresAtMs });
    return inserted;
  });
  await flows.write(flow, { kind: 'sign-up', id, remember, sentAtMs: nowMs });
  outbox.wake();
  await flows.delete(flows.readCookie(r.req));
  flows.setCookie(r.res, flow);
  return { kind: 'begun', address: `${plans.sold ? '/post-signup/security' : '/verify-code'}${continuation.search}` };
}
