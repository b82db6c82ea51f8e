// The coming end or pause of a membership, in the form in which it is stored.

/** Cents. `amounts` null: known as soon as Stripe has computed them. */
export interface RefundAtEnd {
  endsAt: number;
  amounts: { refundCents: number; creditCents: number; currency: string } | null;
}

/** A pause that the user has asked for. Times in milliseconds since the epoch. */
export interface MemberPause {
  /** When Stripe pauses the subscription: a little before the paid period ends. */
  pausesAt: number;
  resumesAt: number;
}

/** A pause that is stored before Stripe is asked. */
export interface PauseRequest extends MemberPause {
  /** The end of the paid period, which the page has named: it begins then, or not at all. */
  periodEnd: number;
}
