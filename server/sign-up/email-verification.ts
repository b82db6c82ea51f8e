import type { FederationHooks, UnverifiedAddress } from '../federation/index.ts';
import type { HttpExchange, RequestContext } from '../http/index.ts';
import type { EmailVerification } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { sendVerificationCode } from './send-code.ts';
import { findUnverifiedAccount, type SignUpRecord, setSignUpRecord } from './sign-up-records.ts';
import { findNewestUnverified } from './sign-up-store.ts';
import { startFederatedSignUp } from './start-sign-up.ts';

/** Starts a new flow in this browser for an authenticated visitor, and sends a code if the limits allow it. */
export async function startEmailVerification(
  exchange: HttpExchange,
  deps: SignUpDeps,
  { kind, id, remember }: Pick<SignUpRecord, 'kind' | 'id' | 'remember'>,
): Promise<void> {
  const { flows, devices } = deps;
  const { req } = exchange;
  const flow: SignUpRecord = { kind, id, remember };
  const account = await findUnverifiedAccount(deps, flow);
  const flowId = flows.newId();
  await flows.write(flowId, flow);
  if (account) {
    const device = account.kind === 'unverified-user' ? devices.recognise(req, account.user) : undefined;
    const from = { lang: req.language, ip: req.ip ?? '', device };
    // If the address or network has reached its limit, the page says so, and Resend gives the reason.
    await sendVerificationCode(deps, { id: flowId, flow, account }, from);
  }
  await setSignUpRecord(exchange, deps, flowId);
}

/** For sign-in/. The password was right; it is not stored. */
export function createEmailVerification(deps: SignUpDeps): EmailVerification {
  return {
    findUnverifiedAccount: (email) => findNewestUnverified(deps.database.db, email, deps.now()),
    async startEmailVerification(exchange, { continuation, ...recipient }) {
      await startEmailVerification(exchange, deps, recipient);
      return `/verify-code${continuation.search}`;
    },
  };
}

export type FederatedSignUpResult = Awaited<ReturnType<FederationHooks['startEmailVerification']>>;

/** For federation/: a sign-up whose address the provider does not confirm. @returns also the page of its code */
export async function startFederatedVerification(
  r: RequestContext,
  deps: SignUpDeps,
  { continuation, ...signUp }: UnverifiedAddress,
): Promise<FederatedSignUpResult> {
  const { search } = continuation;
  const started = await startFederatedSignUp(deps, { ...signUp, continuation: search, lang: r.lang, ip: r.ip });
  if (started.kind !== 'begun') return started;
  await setSignUpRecord(r, deps, started.flow);
  return { kind: 'begun', address: `${deps.plans.sold ? '/post-signup/security' : '/verify-code'}${search}` };
}
