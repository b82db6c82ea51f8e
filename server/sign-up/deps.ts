import type { Codes } from '../codes/index.ts';
import type { Providers } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { PasswordHasher, PasswordPolicy, QueueFullAnswer } from '../password/index.ts';
import type { DeviceRecognition, Sessions } from '../sessions/index.ts';
import type { ClientAuthorizations, NextRedirect, SignIn } from '../sign-in/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { User } from '../users/index.ts';
import type { SignUpLimitSettings } from './limits.ts';
import type { SignUpRecords } from './sign-up-records.ts';

/** What the rules of this room stand on; they know nothing of requests. */
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
  legal: Legal;
  flows: SignUpRecords;
  limits: SignUpLimitSettings;
  /** By which one becomes a member, too. Injected by `app.ts`: that room opens after this one. */
  providers(): Pick<Providers, 'all' | 'byId'>;
  /** One answer whether or not the address is a member's. */
  uniformAnswers: boolean;
  now: () => number;
}

/** What comes after the steps of this room. */
export interface SignUpPlans {
  /** Whether there is a step PLAN; without it a confirmed account is complete. */
  sold: boolean;
  /** Whether a plan has this public handle. */
  knows(planKey: string): boolean;
  /** The address was confirmed on this way: so long will the trial be. */
  settleTrial(user: User, way: 'sign-up' | 'post-sign-up'): Promise<void>;
}

export interface SignUpDeps
  extends SignUpRuleDeps,
    Pick<ClientAuthorizations, 'findPendingAuthorization' | 'toExpiredError'> {
  pages: Pages;
  sessions: Sessions;
  devices: DeviceRecognition;
  signIn: SignIn;
  nextRedirect: NextRedirect;
  queueFull: QueueFullAnswer;
  /** Injected by `app.ts`: the step PLAN is checkout/'s. */
  plans: SignUpPlans;
}

/** As `app.ts` gives them. */
export type SignUpSettings = Omit<SignUpDeps, 'flows'> & { cookies: HostCookies };
