import type { Request, Router } from 'express';
import type { FederationHooks } from '../federation/index.ts';
import type { ApiOperation, Continuation } from '../http/index.ts';
import type { EmailVerification } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import { sweepSignUps } from './delete-expired.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import { createEmailVerification } from './email-verification.ts';
import { afterFederatedSignUp, startFederatedSignUp } from './federated-sign-up.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { createSignUpRecords } from './sign-up-records.ts';
import { findChosenPlanKey } from './sign-up-store.ts';
import { verifyEmailUrl } from './verified-handlers.ts';

export interface SignUpRoom {
  pageRoutes(router: Router): void;
  operations: readonly ApiOperation[];
  /** For the room of signing in. */
  confirmations: EmailVerification;
  /** The step at which somebody is who is not signed in. */
  wayToConfirm(req: Request): Promise<string>;
  /** The public handle of the plan that a member's sign-up was begun with. */
  findPlanKey(userId: string): Promise<string | undefined>;
  /** Where a member goes on whom a provider has just made one: the step PLAN with its trial; undefined: there is none. */
  afterProvider(user: User, continuation: Continuation): Promise<string | undefined>;
  /** As `Upward` of federation/ says. */
  beginByProvider: FederationHooks['startEmailVerification'];
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

/** The pages and calls by which accounts are begun and confirmed: one set of rules behind both. */
export function openSignUp({ cookies, ...settings }: SignUpSettings): SignUpRoom {
  const deps: SignUpDeps = { ...settings, flows: createSignUpRecords(settings.kv, cookies) };
  return {
    pageRoutes: (router) => signUpRoutes(router, deps),
    operations: signUpOperations(deps),
    confirmations: createEmailVerification(deps),
    wayToConfirm: (req) => verifyEmailUrl(deps, req),
    findPlanKey: (userId) => findChosenPlanKey(deps.database.db, userId, deps.now()),
    afterProvider: (user, continuation) => afterFederatedSignUp(deps, user, continuation),
    beginByProvider: (...args) => startFederatedSignUp(deps, ...args),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}
