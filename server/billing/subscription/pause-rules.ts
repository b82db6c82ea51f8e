import { addMonths, dayMs, hourMs, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { MemberPause, PauseRequest } from './coming-acts.ts';
import { isDebit, type Membership, type NextCharge } from './membership.ts';
import { toMembershipState } from './membership-state.ts';

/**
 * Stripe pauses this long before the paid period ends, so that it never bills the next one first. The user keeps the
 * plan until the end.
 */
const beforeEndMs = hourMs;
/** The last moment for a pause before that, or for taking one back. */
const closingMs = hourMs / 6;

export const toPause = (periodEnd: number, months: number): PauseRequest => ({
  periodEnd,
  pausesAt: periodEnd - beforeEndMs,
  resumesAt: addMonths(periodEnd, months),
});

/** The phase of the schedule outlasts the pause by this time. */
export const afterPauseMs = dayMs;

/** Tests whether a pause can still be scheduled, or taken back, before Stripe pauses the subscription. */
export const isBeforePause = ({ pausesAt }: MemberPause, nowMs: number): boolean => nowMs < pausesAt - closingMs;

/**
 * Tests for a paid plan that goes on by itself and whose running period is paid. A debit is paid days after it is asked
 * for, and a year that follows another has a refund of its own.
 */
export function canPause(membership: Membership, catalogue: Catalogue, nowMs: number): boolean {
  const { status, periodEnd, paidUntil, pending, unpaid, card, noted, refundAtEnd } = membership;
  const state = toMembershipState(membership, catalogue, nowMs);
  if (catalogue.pauseMonths.length === 0 || status !== 'active' || state.kind !== 'paid') return false;
  if (pending || unpaid || noted !== undefined || refundAtEnd || card === null || isDebit(card)) return false;
  if (state.plan.type !== '1' && catalogue.afterYear !== undefined) return false;
  // Otherwise its renewal is being charged.
  if (periodEnd === null || paidUntil === null || paidUntil < periodEnd) return false;
  return isBeforePause(toPause(periodEnd, 1), nowMs);
}

/** A pause that the user can choose. */
export interface OfferedPause {
  months: number;
  /** The end of the paid period. */
  beginsAt: number;
  resumesAt: number;
  /** The charge at its end. */
  next: NextCharge;
}

export interface WantedPause {
  months: number;
  /** Its days and amounts, as the page has named them. */
  announced: string;
}

/** `unpaid`: the pause has ended, and its charge has failed. */
export type ResumeResult = 'resumed' | 'noted' | 'no-change' | 'changed' | 'unpaid';

/** The pauses of users: part of the interface of this module. */
export interface PauseService {
  /** The charge if a pause ends now; undefined: none has begun. @throws {StripeUnavailableError} */
  quoteResumption(userId: UserId): Promise<NextCharge | undefined>;
  /** The pauses that the user can choose; []: none. @throws {StripeUnavailableError} */
  quotePauses(userId: UserId): Promise<OfferedPause[]>;
  /**
   * From the end of the paid period, with the announced days and amount. `noted`: done as soon as Stripe answers.
   * @throws {StripeUnavailableError}
   */
  pause(user: User, choice: WantedPause): Promise<'paused' | 'noted' | 'no-change' | 'changed'>;
}
