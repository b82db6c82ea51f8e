import type { User } from '../account/index.ts';
import type { Codes } from '../codes/index.ts';
import type { Providers } from '../federation/index.ts';
import type { HostCookies, Logger, Pages } from '../http/index.ts';
import type { Legal } from '../legal/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { PasswordHasher, PasswordPolicy, QueueFull } from '../password/index.ts';
import type { Devices, Sessions } from '../session/index.ts';
import type { ClientRequests, Entrance, WayOn } from '../sign-in/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { Flows } from './flows.ts';
import type { SignUpLimits } from './limits.ts';

/** What the rules of this room stand on; they know nothing of requests. */
export interface RuleDeps {
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
  flows: Flows;
  limits: SignUpLimits;
  /** By which one becomes a member, too. Injected by `app.ts`: that room opens after this one. */
  providers(): Pick<Providers, 'all' | 'byId'>;
  /** One answer whether or not the address is a member's. */
  uniformAnswers: boolean;
  now: () => number;
}

/** What comes after the steps of this room. */
export interface PlansAhead {
  /** Whether there is a step PLAN; without it a confirmed account is complete. */
  sold: boolean;
  /** Whether a plan has this public handle. */
  knows(planKey: string): boolean;
  /** The address was confirmed on this way: so long will the trial be. */
  settleTrial(user: User, way: 'sign-up' | 'post-sign-up'): Promise<void>;
}

export interface SignUpDeps extends RuleDeps, Pick<ClientRequests, 'pendingRequest' | 'requestOver'> {
  pages: Pages;
  sessions: Sessions;
  devices: Devices;
  entrance: Entrance;
  wayOn: WayOn;
  queueFull: QueueFull;
  /** Injected by `app.ts`: the step PLAN is checkout/'s. */
  plans: PlansAhead;
}

/** As `app.ts` gives them. */
export type SignUpSettings = Omit<SignUpDeps, 'flows'> & { cookies: HostCookies };
