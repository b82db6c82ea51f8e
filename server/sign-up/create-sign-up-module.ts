import type { Request, Router } from 'express';
import type { UnverifiedAddress } from '../federation/index.ts';
import type { ApiOperation, Continuation, Logger, RequestContext } from '../http/index.ts';
import type { PlanKey, UserId } from '../shared/index.ts';
import type { EmailVerification } from '../sign-in/index.ts';
import { createLease, type Database, runPeriodically } from '../store/index.ts';
import type { PersonalDataSource, User } from '../users/index.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import {
  createEmailVerification,
  type FederatedSignUpResult,
  startFederatedVerification,
} from './email-verification.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { createSignUpRecords } from './sign-up-records.ts';
import { deleteExpired, eraseSignUps, findChosenPlanKey, listSignUps } from './sign-up-store.ts';
import { afterFederatedSignUp, verifyEmailUrl } from './verified-handlers.ts';

interface SignUpModule {
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
    beginByProvider: (r, signUp) => startFederatedVerification(r, deps, signUp),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}

const everyMs = 10 * 60_000;
const batch = 500;

/**
 * Deletes sign-ups that expired, or were confirmed long ago, in one process at a time. Returns the function that stops
 * it.
 */
function sweepSignUps(database: Database, now: () => number, log: Logger): () => Promise<void> {
  const sweep = async () => {
    while ((await deleteExpired(database.db, now(), batch)) === batch);
  };
  const lease = createLease(database, 'sweep of expired sign-ups', { ttlMs: 2 * everyMs, now });
  return runPeriodically(lease, {
    everyMs,
    run: sweep,
    onError: (error) => log.warn({ err: error }, 'could not sweep expired sign-ups'),
  });
}

/** The stored sign-ups with a user's address. */
export const signUpDataSource = ({ db }: Database): PersonalDataSource => ({
  name: 'signUps',
  exportData: (user) => listSignUps(db, user),
  erase: (trx, user) => eraseSignUps(trx, user),
});
