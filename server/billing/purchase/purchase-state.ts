import type { StripeInvoiceId } from '../../shared/index.ts';
import type { Decline } from '../stripe/stripe-objects.ts';
import type { Membership } from '../subscription/membership.ts';
import { type ChangeKind, isOnHold } from '../subscription/membership-state.ts';
import type { Charge } from './charge.ts';

/** A payment whose request is stored. `purchases.state` is `charging` in all of these states. */
export type ChargeState =
  /** Stripe does not show the request: it was not sent, or its answer was lost. The next confirmation sends it. */
  | { kind: 'charging'; charge: Charge }
  /** The request is sent, always under the same key. No page. */
  | { kind: 'sending'; charge: Charge }
  /** The declined payment is tried again with the present card. No page. */
  | { kind: 'paying'; charge: Charge; invoiceId: StripeInvoiceId }
  /** The payment went through; Stripe changes the subscription in moments. No page. */
  | { kind: 'applying'; charge: Charge }
  /** The bank asks the user. */
  | { kind: 'action-required'; charge: Charge; clientSecret: string; amountCents: number }
  | ({ kind: 'declined'; charge: Charge } & Decline)
  /** The user's bank has a debit for days. */
  | { kind: 'processing'; charge: Charge; amountCents: number }
  /** The bank has refused the debit: the subscription ends with its invoice. No page. */
  | ({ kind: 'ending'; charge: Charge } & Decline)
  /** The user gives the payment up: its invoice is voided. No page. */
  | { kind: 'withdrawing'; charge: Charge; invoiceId: StripeInvoiceId };

/** The purchase of a plan. */
export type PurchaseState =
  /** A plan is chosen, and nothing was asked of Stripe. `dropsPromotion`: Stripe has refused its promotion code. */
  | { kind: 'open'; dropsPromotion?: true }
  /** Nothing forbids the change today: its amount is compared next. No page. */
  | { kind: 'approved' }
  /** The chosen plan follows at the period's end; `current`: what was to follow is cancelled. No page. */
  | { kind: 'scheduling'; follows: 'chosen' | 'current' }
  | ChargeState
  /** `invoiceId` is null: nothing was charged. */
  | { kind: 'paid'; invoiceId: StripeInvoiceId | null }
  /** There was nothing to change. */
  | { kind: 'abandoned' };

/** The payment of a change that waits for it. */
export type PendingPayment =
  | { kind: 'succeeded' }
  /** Another change has voided its invoice. */
  | { kind: 'void' }
  | { kind: 'action-required'; clientSecret: string; amountCents: number }
  | ({ kind: 'declined' } & Decline);

type Absent = {
  kind: 'absent';
  /** The request is too old to be sent, or its subscription has ended. */
  over: boolean;
};
type Applied = { kind: 'applied'; invoiceId: StripeInvoiceId | null };
type Pending = { kind: 'pending'; invoiceId: StripeInvoiceId };
/** The price has changed, and a bank has its payment. */
type Debited = {
  kind: 'debited';
  payment: { kind: 'processing'; amountCents: number } | ({ kind: 'failed' } & Decline);
};

/** The subscription at Stripe, as far as the charge is concerned. */
export type ChargePlace = Absent | Applied | Pending;

/** The same with the state of its payment. */
export type ChargeFacts = Absent | Applied | Debited | (Pending & { payment: PendingPayment });

export type PurchaseEvent =
  /** The button, with what the page announced. */
  | {
      kind: 'confirmed';
      membership: Pick<
        Membership,
        'status' | 'pricedPlanId' | 'unpaid' | 'pending' | 'card' | 'nextPlanId' | 'cancelAtPeriodEnd' | 'pause'
      >;
      change: ChangeKind;
      announcedCents: number;
      /** A renewal is being charged: what is left of its period is not paid yet. */
      renewing: boolean;
      /** A billing address is needed and missing. */
      lacksDetails: boolean;
    }
  /** The amount is calculated, and the request written. `laterCents` as announced, as in the charge. */
  | { kind: 'priced'; charge: Charge; announcedCents: number; laterCents?: string | undefined }
  /** The amount of a change for the period's end is calculated. */
  | { kind: 'later-priced'; laterCents: string; announced: string | undefined }
  /** The change for the period's end is at Stripe. */
  | { kind: 'scheduled' }
  /** Stripe's state was read. `retries`: the user wants to pay, so the request may be sent or paid again. */
  | { kind: 'stripe-read'; facts: ChargeFacts; retries: boolean }
  /** Stripe refuses the request, for another reason than the card: nothing was changed. */
  | { kind: 'stripe-refused' }
  /** The user chooses another plan or cancels, or does not come back. */
  | { kind: 'given-up'; place: Exclude<ChargeFacts, { kind: 'pending' }> | ChargePlace }
  /** The invoice of the change is void, or its subscription has ended. */
  | { kind: 'voided' };

export type PurchaseRefusal =
  | 'paused'
  /** Another amount is due than the page announced. */
  | 'changed'
  /** An earlier invoice must be paid first. */
  | 'unpaid-first'
  /** A bank has a debit: nothing is sold until it is paid. */
  | 'debit-waiting'
  | 'no-billing-details'
  | 'no-card'
  | 'renewing';

type Refused = { kind: 'refused'; why: PurchaseRefusal };
type StateOfKind<Kind extends PurchaseState['kind']> = Extract<PurchaseState, { kind: Kind }>;
type EventOfKind<Kind extends PurchaseEvent['kind']> = Extract<PurchaseEvent, { kind: Kind }>;
/** The state after a read. */
export type ReadState = Exclude<ChargeState, { kind: 'withdrawing' }> | StateOfKind<'open' | 'paid'>;
type GivenUpState = StateOfKind<'open' | 'paid' | 'withdrawing' | 'processing' | 'ending'>;
type Confirmed = Refused | StateOfKind<'approved' | 'scheduling' | 'abandoned'>;

const refuse = (why: PurchaseRefusal): Refused => ({ kind: 'refused', why });

const isCharge = (state: PurchaseState): state is ChargeState => 'charge' in state;

/**
 * The only transition of a purchase; a refusal leaves the state as it is, and an event that does not belong to a state
 * changes nothing. Limits stop an event before it. Pure.
 */
export function transition(state: StateOfKind<'open'>, event: EventOfKind<'confirmed'>): Confirmed;
export function transition(
  state: StateOfKind<'approved'>,
  event: EventOfKind<'priced'>,
): Refused | StateOfKind<'sending'>;
export function transition(
  state: StateOfKind<'scheduling'>,
  event: EventOfKind<'later-priced'>,
): Refused | StateOfKind<'scheduling'>;
export function transition(state: StateOfKind<'scheduling'>, event: EventOfKind<'scheduled'>): StateOfKind<'paid'>;
export function transition(state: ChargeState, event: EventOfKind<'stripe-read'>): ReadState;
export function transition(state: ChargeState, event: EventOfKind<'given-up'>): GivenUpState;
export function transition(
  state: StateOfKind<'sending' | 'withdrawing' | 'ending'>,
  event: EventOfKind<'stripe-refused' | 'voided'>,
): StateOfKind<'open'>;
export function transition(state: PurchaseState, event: PurchaseEvent): PurchaseState | Refused;
export function transition(state: PurchaseState, event: PurchaseEvent): PurchaseState | Refused {
  switch (event.kind) {
    case 'confirmed':
      return state.kind === 'open' ? confirm(event) : state;
    case 'priced':
      return state.kind === 'approved' ? price(event) : state;
    case 'later-priced':
      return state.kind === 'scheduling' && isOtherLater(event.laterCents, event.announced) ? refuse('changed') : state;
    case 'scheduled':
      return state.kind === 'scheduling' ? { kind: 'paid', invoiceId: null } : state;
    case 'stripe-read':
    case 'stripe-refused':
    case 'given-up':
    case 'voided':
      return isCharge(state) ? changeCharge(state, event) : state;
  }
}

function changeCharge(
  state: ChargeState,
  event: EventOfKind<'stripe-read' | 'stripe-refused' | 'given-up' | 'voided'>,
): PurchaseState {
  switch (event.kind) {
    case 'stripe-read':
      return read(state.charge, event);
    case 'stripe-refused':
      return state.kind === 'sending' ? { kind: 'open', dropsPromotion: true } : state;
    case 'given-up':
      return giveUp(state.charge, event.place);
    case 'voided':
      return state.kind === 'withdrawing' || state.kind === 'ending' ? { kind: 'open' } : state;
  }
}

/** Tests whether later amounts differ from the announced ones; undefined: none were announced. */
export const isOtherLater = (laterCents: string | undefined, announced: string | undefined): boolean =>
  laterCents !== undefined && announced !== undefined && laterCents !== announced;

function price({ charge, announcedCents, laterCents }: EventOfKind<'priced'>): Refused | StateOfKind<'sending'> {
  const isSame = charge.announcedCents === announcedCents && !isOtherLater(charge.laterCents, laterCents);
  return isSame ? { kind: 'sending', charge } : refuse('changed');
}

/** Nothing is sold until this is settled. */
function findObstacle(membership: EventOfKind<'confirmed'>['membership']): PurchaseRefusal | undefined {
  if (isOnHold(membership)) return 'paused';
  if (membership.unpaid) return 'unpaid-first';
  return membership.pending?.debit ? 'debit-waiting' : undefined;
}

function confirm({ membership, change, announcedCents, renewing, lacksDetails }: EventOfKind<'confirmed'>): Confirmed {
  const obstacle = findObstacle(membership);
  if (obstacle) return refuse(obstacle);
  if (renewing && (change === 'none' || change === 'later')) return refuse('renewing');
  if (change === 'none' && membership.nextPlanId === null && !membership.cancelAtPeriodEnd)
    return { kind: 'abandoned' };
  if (change === 'none' || change === 'later') {
    if (announcedCents !== 0) return refuse('changed');
    return { kind: 'scheduling', follows: change === 'none' ? 'current' : 'chosen' };
  }
  if (lacksDetails) return refuse('no-billing-details');
  if (membership.card === null) return refuse('no-card');
  return renewing ? refuse('renewing') : { kind: 'approved' };
}

function read(charge: Charge, { facts, retries }: EventOfKind<'stripe-read'>): ReadState {
  switch (facts.kind) {
    case 'absent':
      if (facts.over) return { kind: 'open' };
      return { kind: retries ? 'sending' : 'charging', charge };
    case 'applied':
      return { kind: 'paid', invoiceId: facts.invoiceId };
    case 'debited':
      return readDebit(charge, facts);
    case 'pending':
      return readPayment(charge, facts, retries);
  }
}

const readDebit = (charge: Charge, { payment }: Debited): StateOfKind<'processing' | 'ending'> =>
  payment.kind === 'processing'
    ? { kind: 'processing', charge, amountCents: payment.amountCents }
    : { ...payment, kind: 'ending', charge };

function readPayment(
  charge: Charge,
  { invoiceId, payment }: Pending & { payment: PendingPayment },
  retries: boolean,
): ReadState {
  switch (payment.kind) {
    case 'succeeded':
      return { kind: 'applying', charge };
    case 'void':
      return { kind: 'open' };
    case 'action-required':
      return { ...payment, charge };
    case 'declined':
      return retries ? { kind: 'paying', charge, invoiceId } : { ...payment, charge };
  }
}

function giveUp(charge: Charge, place: EventOfKind<'given-up'>['place']): GivenUpState {
  switch (place.kind) {
    case 'absent':
      return { kind: 'open' };
    case 'applied':
      return { kind: 'paid', invoiceId: place.invoiceId };
    // A bank cannot be called back.
    case 'debited':
      return readDebit(charge, place);
    case 'pending':
      return { kind: 'withdrawing', charge, invoiceId: place.invoiceId };
  }
}
