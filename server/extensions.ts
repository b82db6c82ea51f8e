import type { Router } from 'express';
import type { Config } from '../config/load.ts';
import type { LayoutBanner, LinkName, PageContext } from '../views/page-context.ts';
import type { PageRule, Pages } from './http/index.ts';
import type { BillingClock } from './membership/index.ts';
import type { Carriers } from './messages/index.ts';
import type { Sessions } from './sessions/index.ts';
import type { KeyValueStore } from './store/index.ts';

/** What is added to the product from outside. Production adds nothing; development adds the sandbox. */
export interface Extensions {
  /** Pages, and the rule of access of each. */
  routes?: ExtensionRoutes;
  /** They take every message; the configured carriers take none. */
  carriers?: Carriers;
  /** Stripe's time, where it is not the machine's. */
  billingClock?: BillingClock;
  /** What the layout of each page shows at the top. */
  layoutBanner?: (ctx: PageContext) => LayoutBanner;
  /** A stylesheet behind the product's, by its source in the manifest of the client build. */
  assets?: { stylesheet: string };
  /** Pages in place of apps that are not configured. */
  links?: Partial<Record<LinkName, string>>;
}

export interface ExtensionRoutes {
  access: Readonly<Record<string, PageRule>>;
  add(router: Router, services: ExtensionServices): void;
}

/** What added pages may use of the product. */
export interface ExtensionServices {
  pages: Pages;
  sessions: Sessions;
  /** Does what the workers of billing do by themselves. */
  runBillingJobs(): Promise<void>;
}

/** What an extension is made from. */
export interface ExtensionBase {
  config: Config;
  kv: KeyValueStore;
  /** Milliseconds since the epoch. */
  now: () => number;
}
