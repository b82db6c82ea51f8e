import type { HttpExchange } from '../http/index.ts';
import type { EmailVerification } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { sendVerificationCode } from './resend-code.ts';
import type { SignUpRecord } from './sign-up-records.ts';
import { findNewestUnverified } from './sign-up-store.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

/** Starts a new flow in this browser for an authenticated visitor, and sends a code if the limits allow it. */
export async function startEmailVerification(
  { req, res }: HttpExchange,
  deps: SignUpDeps,
  { kind, id, remember }: Pick<SignUpRecord, 'kind' | 'id' | 'remember'>,
): Promise<void> {
  const { flows, devices } = deps;
  const flow: SignUpRecord = { kind, id, remember };
  const subject = await findUnverifiedSubject(deps, flow);
  const flowId = flows.newId();
  await flows.write(flowId, flow);
  if (subject) {
    const device = subject.kind === 'user' ? devices.recognise(req, subject.user) : undefined;
    const from = { lang: req.language, ip: req.ip ?? '', device };
    // If the address or network has reached its limit, the page says so, and Resend gives the reason.
    await sendVerificationCode(deps, { id: flowId, flow, subject }, from);
  }
  await flows.delete(flows.readCookie(req));
  flows.setCookie(res, flowId);
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
