import type { UserId } from '../shared/index.ts';

/** The payments of users while they run, which may be longer than their requests. */
export interface PaymentProgress {
  /** Tests for a payment of the user in this process; `everywhere`: also in others, which asks the database. */
  isPaying(userId: UserId, where: 'here' | 'everywhere'): Promise<boolean>;
  /** Waits for payments in this process: the user's, or all. @returns whether they have ended within this time */
  untilPaid(withinMs: number, userId?: UserId): Promise<boolean>;
}
