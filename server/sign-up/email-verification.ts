import type { Request, Response } from 'express';
import type { EmailVerification } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { sendVerificationCode } from './resend-code.ts';
import type { SignUpRecord } from './sign-up-records.ts';
import { findNewestUnverified } from './sign-up-store.ts';
import { findUnverifiedSubject } from './unverified-subject.ts';

/** A new flow in this browser for somebody who has shown who they are, and a code for it if the address may have one. */
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
    // Where the address, or this network, has had its share, the page says so, and Resend why.
    await sendVerificationCode(deps, { id, flow }, found, { lang: req.language, ip: req.ip ?? '', device });
  }
  await flows.delete(flows.readCookie(req));
  flows.setCookie(res, id);
}

/** For the room of signing in. The password was right; nothing of it is kept. */
export function createEmailVerification(deps: SignUpDeps): EmailVerification {
  return {
    findUnverifiedAccount: (email) => findNewestUnverified(deps.database.db, email, deps.now()),
    async startEmailVerification(req, res, { continuation, ...recipient }) {
      await startEmailVerification(deps, req, res, recipient);
      return `/verify-code${continuation.search}`;
    },
  };
}
