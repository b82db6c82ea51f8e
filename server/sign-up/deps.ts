import type { Providers } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Codes, Outbox } from '../messages/index.ts';
import type { PasswordHasher, PasswordPolicy, QueueFullAnswer } from '../password/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { Metrics, PlanKey } from '../shared/index.ts';
import type { ClientAuthorizations, Legal, NextRedirect, SignIn } from '../sign-in/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { UserHooks } from '../users/index.ts';
import type { SignUpLimitSettings } from './limits.ts';
import type { SignUpRecords } from './sign-up-records.ts';

/** Dependencies of this module's rules, which do not know requests. */
export interface SignUpRuleDeps {
  publicUrl: string;
  log: Logger;
  metrics: Metrics;
  database: Database;
  kv: KeyValueStore;
  passwords: PasswordHasher;
  policy: PasswordPolicy;
  codes: Codes;
  outbox: Outbox;
  hooks: UserHooks;
  legal: Legal;
  flows: SignUpRecords;
  limits: SignUpLimitSettings;
  /** Providers that can create users. */
  providers: Pick<Providers, 'all' | 'byId' | 'find'>;
  /** One answer whether or not the address belongs to a user. */
  uniformAnswers: boolean;
  now: () => number;
}

/** The steps after those of this module. */
interface SignUpPlans {
  /** Whether there is a step PLAN; without it a confirmed account is complete. */
  sold: boolean;
  /** Tests whether a plan has this public handle. */
  knows(planKey: PlanKey): boolean;
  /** The page on which a member changes to this plan, or takes a partner's deal; undefined: there is no such plan. */
  memberUrl(planKey: PlanKey, search: string): string | undefined;
}

export interface SignUpDeps
  extends SignUpRuleDeps,
    Pick<ClientAuthorizations, 'findPendingAuthorization' | 'toExpiredError'> {
  pages: Pages;
  cookies: HostCookies;
  sessions: Sessions;
  devices: DeviceRecognition;
  signIn: SignIn;
  nextRedirect: NextRedirect;
  queueFull: QueueFullAnswer;
  /** Injected by `wiring.ts`: billing/ has the step PLAN. */
  plans: SignUpPlans;
}

/** The dependencies from `wiring.ts`. */
export type SignUpSettings = Omit<SignUpDeps, 'flows'>;
