import type Stripe from 'stripe';

/** An event as Stripe sends it. The HTTP API may set `request` when it is emitted. */
export type StripeEvent = Omit<Stripe.EventBase, 'data' | 'request' | 'type'> & {
  type: string;
  data: { object: Record<string, unknown>; previous_attributes?: Record<string, unknown> };
  request: { id: string | null; idempotency_key: string | null };
};

/** The kind of the API key of a call. */
export type KeyKind = 'secret' | 'publishable';

export interface EngineRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** For example '/v1/customers/cus_1'. */
  path: string;
  /** The parsed body or query; strings as in a form, or numbers and booleans. */
  params?: Record<string, unknown>;
  /** By default `secret`. */
  as?: KeyKind;
}

/** Stripe's API without its wire format: objects, money and a clock. Times inside objects are seconds, as at Stripe. */
export interface Engine {
  /**
   * One API call.
   * @returns the plain object, with ids where Stripe returns ids; lists are complete, the HTTP API makes pages
   * @throws StandInError
   */
  call(request: EngineRequest): unknown;
  /** Looks an object up by id, for expansion by the HTTP API. */
  find(id: string): Record<string, unknown> | undefined;
  /** Everything as JSON, and back. */
  snapshot(): unknown;
  restore(snapshot: unknown): void;
  /** The engine's own clock in milliseconds: real time plus the advanced time. */
  nowMs(): number;
  /** Advances the clock and does everything that is due on the way, in the order of time. */
  advance(ms: number): void;
  /** The customer answers a 3-D Secure challenge of a setup or payment intent. */
  authenticate(intentId: string, outcome: 'succeed' | 'fail'): void;
  /** A paid invoice is refunded, wholly or in part. @returns the refund's id */
  refund(invoiceId: string, cents?: number, status?: 'succeeded' | 'pending'): string;
  /** The bank completes a refund, or gives it back. */
  endRefund(refundId: string, end: RefundEnd): void;
  /** The cardholder disputes the charge of a paid invoice, or only asks about it. @returns the dispute's id */
  dispute(invoiceId: string, status?: DisputeStart): string;
  /** Evidence is sent, or the bank decides. */
  moveDispute(disputeId: string, status: DisputeStep): void;
  /** The operator gives a customer a coupon, which Stripe's API does not offer; null: takes it away. */
  discountCustomer(customerId: string, couponId: string | null): void;
  /** Stripe or the operator pauses a subscription, for one of Stripe's reasons. */
  pause(subscriptionId: string, reason: PauseReason): void;
  /** From now on the saved payment method behaves like the test card with this number when it is charged. */
  setCardBehaviour(paymentMethodId: string, cardNumber: string): void;
}

/** How a refund ends that was pending, or that the bank gives back later. */
export type RefundEnd = 'succeeded' | 'failed' | 'canceled';

/** The states in which a dispute begins: a chargeback, or a mere question of the bank. */
export type DisputeStart = 'needs_response' | 'warning_needs_response';
/** The later states. */
export type DisputeStep = 'under_review' | 'warning_under_review' | 'won' | 'lost' | 'warning_closed';

/** Why a subscription is paused (`status_details.paused.subscription.type`). */
export type PauseReason = NonNullable<
  NonNullable<NonNullable<Stripe.Subscription['status_details']>['paused']>['subscription']
>['type'];

export interface EngineOptions {
  now(): number;
  /** The invoice of a renewal stays a draft for an hour, as at Stripe; by default it is charged at once. */
  draftsRenewals?: boolean | undefined;
  /** Days from each failed attempt at a renewal to the next; by default those of Smart Retries. */
  retryAfterDays?: readonly number[] | undefined;
  onEvent(event: StripeEvent): void;
  /** Address of hosted invoice pages and 3-D Secure challenges, without a trailing slash. */
  origin: string;
}

export type ErrorType = 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';

/** Stripe's error of a failed call: one field for each of its error body. */
export class StandInError extends Error {
  readonly status: number;
  readonly type: ErrorType;
  readonly code?: string;
  readonly declineCode?: string;
  readonly param?: string;
  readonly paymentIntent?: unknown;
  readonly setupIntent?: unknown;
  /** Whether the effects of the call are stored, like those of a declined attempt. */
  readonly keeps: boolean;

  constructor(
    message: string,
    detail: {
      status?: number;
      type?: ErrorType;
      code?: string;
      declineCode?: string;
      param?: string;
      paymentIntent?: unknown;
      setupIntent?: unknown;
      keeps?: boolean;
    } = {},
  ) {
    super(message);
    this.name = 'StandInError';
    this.status = detail.status ?? 400;
    this.type = detail.type ?? 'invalid_request_error';
    this.code = detail.code;
    this.declineCode = detail.declineCode;
    this.param = detail.param;
    this.paymentIntent = detail.paymentIntent;
    this.setupIntent = detail.setupIntent;
    this.keeps = detail.keeps ?? false;
  }
}

/** For features that Stripe has and this engine lacks: never a guess. */
export const unknownToStandIn = (feature: string, param?: string) =>
  new StandInError(`The stand-in does not know ${feature}.`, { status: 501, type: 'api_error', param });

export const invalid = (message: string, detail: { param?: string; code?: string } = {}) =>
  new StandInError(message, detail);

export const missing = (noun: string, id: string, param = 'id') =>
  new StandInError(`No such ${noun}: '${id}'`, { status: 404, code: 'resource_missing', param });
