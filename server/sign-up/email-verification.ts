import type { Request, Response } from 'express';
import type { EmailVerification } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { sendVerificationCode } from './resend-code.ts';
import type { SignUpRecord } from './sign-up-records.ts';
import { findNewestUnverified } from './sign-up-store.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

/** Starts a new flow in this browser for an authenticated visitor, and sends a code if the limits allow it. */
export async function startEmailVerification(
  deps: SignUpDeps,
  req: Request,
  res: Response,
  recipient: Pick<SignUpRecord, 'kind' | 'id' | 'remember'>,
): Promise<void> {
  const { flows, devices } = deps;
  const found = await findUnverifiedSubject(deps, recipient);
  const flow: SignUpRecord = { kind: recipient.kind, id: recipient.id, remember: recipient.remember };
  const id = flows.newId();
  await flows.write(id, flow);
  if (found) {
    const device = found.kind === 'user' ? devices.recognise(req, found.user) : undefined;
    // If the address or network has reached its limit, the page says so, and Resend gives the reason.
    await sendVerificationCode(deps, { id, flow }, found, { lang: req.language, ip: req.ip ?? '', device });
  }
  await flows.delete(flows.readCookie(req));
  flows.setCookie(res, id);
}

/** For sign-in/. The password was right; it is not stored. */
export function createEmailVerification(deps: SignUpDeps): EmailVerification {
  return {
    findUnverifiedAccount: (email) => findNewestUnverified(deps.database.db, email, deps.now()),
    async startEmailVerification(req, res, { continuation, ...recipient }) {
      await startEmailVerification(deps, req, res, recipient);
      return `/verify-code${continuation.search}`;
    },
  };
}
