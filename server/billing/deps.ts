import type { Logger, RateLimits } from '../http/index.ts';
import type { Outbox } from '../messages/index.ts';
import type { Metrics } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import type { OfferedMethods } from './cards/payment-methods.ts';
import type { Catalogue } from './catalogue/catalogue.ts';
import type { Prices } from './catalogue/prices.ts';
import type { StripeClient } from './stripe/stripe-client.ts';

export type CardLimitSettings = Pick<RateLimits, 'card' | 'refusedCard' | 'promotion' | 'promotionPreview'>;

/** Dependencies of this module's rules, which do not know requests. */
export interface BillingDeps {
  publicUrl: string;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  catalogue: Catalogue;
  stripe: StripeClient;
  prices: Prices;
  methods: OfferedMethods;
  limits: CardLimitSettings;
  /** Key of the hashes of addresses and cards that have had their trial. */
  trialKey: Buffer;
  log: Logger;
  metrics: Metrics;
  now: () => number;
}
