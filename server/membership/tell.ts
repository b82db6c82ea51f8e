import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { MembershipDeps } from './deps.ts';
import type { Order } from './order-store.ts';
import type { StripeFacts } from './read-stripe.ts';
import type { Membership } from './standing.ts';

/** What has been read, and what of it is new. */
export interface News {
  before: Membership;
  after: Membership;
  /** That have just been written. */
  orders: readonly Order[];
  facts: StripeFacts;
  nowMs: number;
}

/** Writes the mails about what is new, each once, in the transaction that makes it so. */
export async function tellNews(_deps: MembershipDeps, _trx: Transaction<Schema>, _news: News): Promise<void> {}
