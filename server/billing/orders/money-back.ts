import type Stripe from 'stripe';
import type { Row } from '../../store/index.ts';
import { callStripe, type StripeClient } from '../stripe/stripe-client.ts';
import { toId, toMs } from '../stripe/stripe-objects.ts';

type DisputeState = NonNullable<Row<'orders'>['disputeState']>;

/** The part of one payment that went back, or may have to. */
export interface MoneyBack {
  refundedCents: number;
  /** null: it was never disputed. */
  disputeState: DisputeState | null;
  /** Start of the newest refund or dispute; 0: there is none. */
  newestAt: number;
}

export const nothingBack: MoneyBack = { refundedCents: 0, disputeState: null, newestAt: 0 };

/** A refund that failed or was cancelled has given nothing back. */
const counting: ReadonlySet<string | null> = new Set(['pending', 'succeeded']);
/** Closed without a loss. Every state that is not known here counts as open. */
const harmless: ReadonlySet<string> = new Set(['won', 'warning_closed', 'prevented']);

const toDisputeState = ({ status }: Pick<Stripe.Dispute, 'status'>): DisputeState =>
  status === 'lost' ? 'lost' : harmless.has(status) ? 'won' : 'open';

/** The worst of several disputes of one payment. */
const worst = (one: DisputeState | null, other: DisputeState): DisputeState =>
  ([one, other] as const).find((state) => state === 'open') ??
  ([one, other] as const).find((state) => state === 'lost') ??
  other;

const newest = ({ newestAt }: MoneyBack, { created }: { created: number }): number => Math.max(newestAt, toMs(created));

const addRefund = (back: MoneyBack, { status, amount, created }: Stripe.Refund): MoneyBack => ({
  ...back,
  newestAt: newest(back, { created }),
  refundedCents: back.refundedCents + (counting.has(status) ? amount : 0),
});

const addDispute = (back: MoneyBack, dispute: Stripe.Dispute): MoneyBack => ({
  ...back,
  newestAt: newest(back, dispute),
  disputeState: worst(back.disputeState, toDisputeState(dispute)),
});

/** As Stripe has it now. @throws {StripeUnavailableError} */
export function readMoneyBack(client: StripeClient, payment_intent: string): Promise<MoneyBack> {
  return callStripe(client, async (stripe) => {
    const [refunds, disputes] = await Promise.all([
      stripe.refunds.list({ payment_intent, limit: 100 }),
      stripe.disputes.list({ payment_intent, limit: 100 }),
    ]);
    return disputes.data.reduce(addDispute, refunds.data.reduce(addRefund, nothingBack));
  });
}

/** Every refund and dispute of the account, by payment. @throws {StripeUnavailableError} */
export function readAllMoneyBack(client: StripeClient): Promise<Map<string, MoneyBack>> {
  return callStripe(client, async (stripe) => {
    const all = new Map<string, MoneyBack>();
    for await (const refund of stripe.refunds.list({ limit: 100 })) {
      if (refund.payment_intent === null) continue;
      const id = toId(refund.payment_intent);
      all.set(id, addRefund(all.get(id) ?? nothingBack, refund));
    }
    for await (const dispute of stripe.disputes.list({ limit: 100 })) {
      if (dispute.payment_intent === null) continue;
      const id = toId(dispute.payment_intent);
      all.set(id, addDispute(all.get(id) ?? nothingBack, dispute));
    }
    return all;
  });
}
