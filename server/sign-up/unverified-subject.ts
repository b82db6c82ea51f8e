import type { Request } from 'express';
import { type FlowId, type NormalisedEmail, toUserId } from '../shared/index.ts';
import { findUser, type User } from '../users/index.ts';
import type { SignUpRuleDeps } from './deps.ts';
import { findSignUpRecord, type SignUpRecord } from './sign-up-records.ts';
import { findSignUp, type SignUp } from './sign-up-store.ts';

/** The current state of the account that a flow confirms. */
export type UnverifiedSubject =
  | { kind: 'sign-up'; email: NormalisedEmail; signUp: SignUp }
  | { kind: 'user'; email: NormalisedEmail; user: User };

/** Undefined if there is nothing to confirm: it has expired, is already confirmed, or the user is deleted. */
export async function findUnverifiedSubject(
  { database, now }: Pick<SignUpRuleDeps, 'database' | 'now'>,
  flow: Pick<SignUpRecord, 'kind' | 'id'>,
): Promise<UnverifiedSubject | undefined> {
  if (flow.kind === 'user') {
    const user = await findUser(database.db, toUserId(flow.id));
    return user && !user.emailVerified ? { kind: 'user', email: user.email, user } : undefined;
  }
  const signUp = await findSignUp(database.db, flow.id, now());
  return signUp && signUp.state !== 'confirmed' ? { kind: 'sign-up', email: signUp.email, signUp } : undefined;
}

/** A flow, and the account that it can still confirm. */
export interface PendingVerification {
  id: FlowId;
  flow: SignUpRecord;
  subject: UnverifiedSubject;
}

/** The browser's own. */
export async function findPendingVerification(
  req: Request,
  deps: Pick<SignUpRuleDeps, 'database' | 'flows' | 'now'>,
): Promise<PendingVerification | undefined> {
  const own = await findSignUpRecord(req, deps);
  const subject = own && (await findUnverifiedSubject(deps, own.flow));
  return own && subject && { ...own, subject };
}
