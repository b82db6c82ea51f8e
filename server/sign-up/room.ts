import type { Request, Router } from 'express';
import type { User } from '../account/index.ts';
import type { Upward } from '../federation/index.ts';
import type { Errand, Operation } from '../http/index.ts';
import type { Confirmations } from '../sign-in/index.ts';
import { afterProvider, beginByProvider } from './by-provider.ts';
import { createConfirmations } from './confirmations.ts';
import type { SignUpDeps, SignUpSettings } from './deps.ts';
import { createFlows } from './flows.ts';
import { signUpOperations } from './operations.ts';
import { signUpRoutes } from './routes.ts';
import { planKeyOf } from './sign-up-store.ts';
import { sweepSignUps } from './sweep.ts';
import { wayToConfirm } from './verified-step.ts';

export interface SignUpRoom {
  pageRoutes(router: Router): void;
  operations: readonly Operation[];
  /** For the room of signing in. */
  confirmations: Confirmations;
  /** The step at which somebody is who is not signed in. */
  wayToConfirm(req: Request): Promise<string>;
  /** The public handle of the plan that a member's sign-up was begun with. */
  planKeyOf(userId: string): Promise<string | undefined>;
  /** Where a member goes on whom a provider has just made one: the step PLAN with its trial; undefined: there is none. */
  afterProvider(user: User, errand: Errand): Promise<string | undefined>;
  /** As `Upward` of federation/ says. */
  beginByProvider: Upward['beginUnverified'];
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
    wayToConfirm: (req) => wayToConfirm(deps, req),
    planKeyOf: (userId) => planKeyOf(deps.database.db, userId, deps.now()),
    afterProvider: (user, errand) => afterProvider(deps, user, errand),
    beginByProvider: (...given) => beginByProvider(deps, ...given),
    stop: sweepSignUps(deps.database, deps.now, deps.log),
  };
}
