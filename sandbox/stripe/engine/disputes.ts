import { readCreated } from './created.ts';
import { newId } from './new-id.ts';
import type { Dispute } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { getChargeOfInvoice } from './refunds.ts';
import type { State } from './state.ts';
import { type DisputeStart, type DisputeStep, invalid } from './types.ts';

const closed: ReadonlySet<string> = new Set(['won', 'lost', 'warning_closed']);
const answerDays = 9;

const noEvidence: Dispute['evidence'] = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
};

export function openDispute(state: State, invoiceId: string, status: DisputeStart): Dispute {
  const charge = getChargeOfInvoice(state, invoiceId);
  if (state.all('dispute').some((one) => one.charge === charge.id && !closed.has(one.status)))
    throw invalid('The charge is disputed already.', { code: 'charge_disputed' });
  charge.disputed = true;
  const dispute: Dispute = state.put({
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    balance_transactions: [],
    charge: charge.id,
    created: state.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: { ...noEvidence },
    evidence_details: {
      due_by: state.now() + answerDays * 86_400,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: null,
    is_charge_refundable: status === 'warning_needs_response',
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    reason: 'fraudulent',
    status,
  });
  state.announce('charge.dispute.created', dispute);
  if (status === 'needs_response') state.announce('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** Evidence was sent, or the bank has decided. */
export function moveDispute(state: State, disputeId: string, status: DisputeStep): void {
  const dispute = state.edit('dispute', disputeId);
  if (closed.has(dispute.status)) throw invalid(`The dispute is ${dispute.status} already.`);
  dispute.status = status;
  if (!closed.has(status)) state.announce('charge.dispute.updated', dispute, 'updated');
  else {
    state.announce('charge.dispute.closed', dispute);
    if (status === 'won') state.announce('charge.dispute.funds_reinstated', dispute);
  }
}

export function listDisputes(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'payment_intent', 'charge', 'created']);
  const [intent, charge, isCreated] = [reader.text('payment_intent'), reader.text('charge'), readCreated(reader)];
  if (intent !== undefined) state.get('payment_intent', intent, 'payment_intent');
  return list(
    state
      .all('dispute')
      .filter(
        (one) =>
          (intent === undefined || one.payment_intent === intent) &&
          (charge === undefined || one.charge === charge) &&
          isCreated(one),
      ),
    '/v1/disputes',
  );
}
