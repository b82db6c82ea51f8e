import type { Request, Router } from 'express';
import type { UnverifiedAddress } from '../federation/index.ts';
import type { ApiOperation, Continuation, RequestContext } from '../http/index.ts';
import type { PlanKey, UserId } from '../shared/index.ts';
import type { EmailVerification } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import { sweepSignUps } from './delete-expired.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import { createEmailVerification } from './email-verification.ts';
import { afterFederatedSignUp, type FederatedSignUpResult, startFederatedSignUp } from './federated-sign-up.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { createSignUpRecords } from './sign-up-records.ts';
import { findChosenPlanKey } from './sign-up-store.ts';
import { verifyEmailUrl } from './verified-handlers.ts';

export interface SignUpModule {
  pageRoutes(router: Router): void;
  operations: readonly ApiOperation[];
  /** For sign-in/. */
  confirmations: EmailVerification;
  /** The step of a visitor who is not signed in. */
  verifyEmailUrl(req: Request): Promise<string>;
  /** The public handle of the plan with which a user's sign-up started. */
  findPlanKey(userId: UserId): Promise<PlanKey | undefined>;
  /**
   * The next page of a user whom a provider has just created: the step PLAN with its trial; undefined: there is none.
   */
  afterProvider(user: User, continuation: Continuation): Promise<string | undefined>;
  /** See `FederationHooks` of federation/. */
  beginByProvider(r: RequestContext, signUp: UnverifiedAddress): Promise<FederatedSignUpResult>;
  /** Stops the periodic jobs. */
  stop(): Promise<void>;
}

/** The pages and calls for starting and confirming sign-ups: one set of rules behind both. */
export function openSignUp(settings: SignUpSettings): SignUpModule {
  const deps: SignUpDeps = { ...settings, flows: createSignUpRecords(settings.kv, settings.cookies) };
  return {
    pageRoutes: (router) => signUpRoutes(router, deps),
    operations: signUpOperations(deps),
    confirmations: createEmailVerification(deps),
    verifyEmailUrl: (req) => verifyEmailUrl(req, deps),
    findPlanKey: (userId) => findChosenPlanKey(deps.database.db, userId, deps.now()),
    afterProvider: (user, continuation) => afterFederatedSignUp(deps, user, continuation),
    beginByProvider: (r, signUp) => startFederatedSignUp(r, deps, signUp),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}
