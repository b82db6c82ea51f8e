import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { MembershipState } from '../subscription/membership-state.ts';

/** Why a user cannot redeem a gift now. */
export type GiftObstacle =
  /** A paid plan that runs, is paused or waits for its payment. `until`: it ends then. */
  | { kind: 'paid'; plan: Plan | undefined; until: number | null }
  /** A partner's plan, for life. */
  | { kind: 'partner'; plan: Plan }
  /** Another plan by a gift. */
  | { kind: 'gift'; plan: Plan; until: number }
  /** A payment for a plan is under way. */
  | { kind: 'paying' };

export type GiftResult =
  | { kind: 'redeemed'; plan: Plan; until: number }
  /** There is no such code. */
  | { kind: 'unknown' }
  | { kind: 'used' }
  | { kind: 'revoked' }
  | { kind: 'expired' }
  | { kind: 'too-many'; retryAfterMs: number }
  /** The code is not used up. `validUntil`: its own end. */
  | { kind: 'refused'; obstacle: GiftObstacle; validUntil: number };

/** How the module acts alone for a user. */
export interface GiftTurns {
  alone<T>(user: Pick<User, 'id'>, act: () => Promise<T>): Promise<T>;
}

/** The gifts of users: part of the interface of this module. */
export interface GiftService {
  /** Redeems a code as it was typed. @throws {StripeUnavailableError} while another act of the user takes too long */
  redeemGift(user: User, typed: string, from: { ip: string }): Promise<GiftResult>;
}

interface GiftFacts {
  /** undefined: there is no membership. */
  state: MembershipState | undefined;
  /** The plan without a subscription. */
  base: Plan | undefined;
  paying: boolean;
}

/** A gift never runs beside a plan that is paid, nor in the place of one for life: the time would be lost. */
export function findObstacle({ state, base, paying }: GiftFacts, plan: Plan): GiftObstacle | undefined {
  if (paying) return { kind: 'paying' };
  switch (state?.kind) {
    case 'paid':
    case 'changing':
    case 'pausing':
    case 'grace':
    case 'resting':
    case 'paused':
      return { kind: 'paid', plan: state.plan, until: null };
    case 'trying':
      return { kind: 'paid', plan: state.plan, until: state.ends ? state.until : null };
    case 'ending':
      return { kind: 'paid', plan: state.plan, until: state.until };
    case 'gift':
      return state.plan.id === plan.id ? undefined : { kind: 'gift', plan: state.plan, until: state.until };
    default:
      return base?.kind === 'partner' ? { kind: 'partner', plan: base } : undefined;
  }
}
