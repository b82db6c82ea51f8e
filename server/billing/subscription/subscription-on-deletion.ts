import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import type { EndOnNotice } from '../orders/order.ts';

/** How a paid membership ends with the account. */
export type CancellationTiming = 'period-end' | 'at-once';

/** A membership that renews, for the question to the user. */
interface RenewingSubscription {
  /** Undefined: the plan is not in the catalogue any more. */
  planName: string | undefined;
  /** End of the paid period (milliseconds since the epoch). */
  until: number | null;
  /** Its renewal could not be charged, so there is no paid period to wait for. */
  unpaid: boolean;
  /** Nothing of it is paid yet. */
  isTrial?: boolean | undefined;
}

/** The handling of a membership that renews. */
export interface SubscriptionOnDeletion {
  /** undefined: there is none, or it already ends. */
  findRenewing(userId: UserId, nowMs: number): Promise<RenewingSubscription | undefined>;
  /** @returns data for `resumeAfterCancellation`; null: there is none, or it already ends */
  cancelOnDeletion(
    trx: Transaction<Schema>,
    userId: UserId,
    /**
     * `announcedEndsAt`: the end on a month's notice that the page has named; `refund`: the end at once with what is
     * given back, whatever `timing` says.
     */
    options: {
      timing: CancellationTiming;
      nowMs: number;
      announcedEndsAt?: number | undefined;
      refund?: EndOnNotice | undefined;
    },
  ): Promise<string | null>;
  /** `noted` is from `cancelOnDeletion`. */
  resumeAfterCancellation(
    trx: Transaction<Schema>,
    userId: UserId,
    cancelled: { noted: string; nowMs: number },
  ): Promise<void>;
}
