/**
 * The room where accounts are made: the steps PROFILE and SECURITY of a sign-up, the code that proves an address (also of
 * members whose address is not confirmed), and the same as JSON calls (the specification's sections 2, 4 and 7).
 *
 * Owns accounts that were begun (`sign_ups`) and the flow that leads from one to a member. Does not own codes (codes/),
 * the rules for passwords (password/), the member that it becomes (account/) nor what comes next (sign-in/).
 */
import type { Router } from 'express';
import type { Operation } from '../http/index.ts';
import type { Confirmations } from '../sign-in/index.ts';
import { createConfirmations } from './confirmations.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import { createFlows } from './flows.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { sweepSignUps } from './sweep.ts';

export type { SignUpSettings } from './deps.ts';
export { signUpHolding } from './holding.ts';
export type { SignUpLimits } from './limits.ts';

export interface SignUpRoom {
  pageRoutes(router: Router): void;
  operations: readonly Operation[];
  /** For the room of signing in. */
  confirmations: Confirmations;
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

export function openSignUp({ cookies, ...settings }: SignUpSettings): SignUpRoom {
  const deps: SignUpDeps = { ...settings, flows: createFlows(settings.kv, cookies) };
  return {
    pageRoutes: (router) => signUpRoutes(router, deps),
    operations: signUpOperations(deps),
    confirmations: createConfirmations(deps),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}
