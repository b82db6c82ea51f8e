import type { Router } from 'express';
import type { Operation } from '../http/index.ts';
import type { Confirmations } from '../sign-in/index.ts';
import { createConfirmations } from './confirmations.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import { createFlows } from './flows.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { sweepSignUps } from './sweep.ts';

export interface SignUpRoom {
  pageRoutes(router: Router): void;
  operations: readonly Operation[];
  /** For the room of signing in. */
  confirmations: Confirmations;
  /** Stops what runs by itself. */
  stop(): Promise<void>;
}

/** The pages and calls by which accounts are begun and confirmed: one set of rules behind both. */
export function openSignUp({ cookies, ...settings }: SignUpSettings): SignUpRoom {
  const deps: SignUpDeps = { ...settings, flows: createFlows(settings.kv, cookies) };
  return {
    pageRoutes: (router) => signUpRoutes(router, deps),
    operations: signUpOperations(deps),
    confirmations: createConfirmations(deps),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}
