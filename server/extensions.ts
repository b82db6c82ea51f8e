import type { Router } from 'express';
import type { Config } from '../config/load.ts';
import type { LayoutBanner, LinkName, PageContext } from '../views/page-context.ts';
import type { BillingClock } from './billing/index.ts';
import type { PageRule, Pages } from './http/index.ts';
import type { Carriers } from './messages/index.ts';
import type { Refusal } from './oidc/index.ts';
import type { Sessions } from './sessions/index.ts';
import type { KeyValueStore } from './store/index.ts';

/** Extensions of the product from outside. Production has none; development has the sandbox. */
export interface Extensions {
  /** Pages, with their access rules. */
  routes?: ExtensionRoutes;
  /** They replace the configured carriers for every message. */
  carriers?: Carriers;
  /** Gets the refused requests of client apps. */
  onRefusal?(refusal: Refusal): void;
  /** Stripe's time, if it is not the machine's. */
  billingClock?: BillingClock;
  /** The banner at the top of each page. */
  layoutBanner?: (ctx: PageContext, requestedAddress?: string) => LayoutBanner;
  /** A stylesheet behind the product's, by its source in the manifest of the client build. */
  assets?: { stylesheet: string };
  /** Pages that replace apps without a configuration. */
  links?: Partial<Record<LinkName, string>>;
}

interface ExtensionRoutes {
  access: Readonly<Record<string, PageRule>>;
  add(router: Router, services: ExtensionServices): void;
}

/** The services of the product for added pages. */
interface ExtensionServices {
  pages: Pages;
  sessions: Sessions;
  /** Runs the periodic jobs of billing. */
  runBillingJobs(): Promise<void>;
}

/** Makes the extensions of the app. */
export interface Extender {
  extend(base: ExtensionBase): Extensions;
}

/** The input of an extension. */
export interface ExtensionBase {
  config: Config;
  kv: KeyValueStore;
  /** Milliseconds since the epoch. */
  now: () => number;
}
