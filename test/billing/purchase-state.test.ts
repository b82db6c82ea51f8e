import fc from 'fast-check';
import type { Charge } from '../../server/billing/purchase/charge.ts';
import { type PurchaseEvent, type PurchaseState, transition } from '../../server/billing/purchase/purchase-state.ts';
import { toPlanId, toStripeInvoiceId, toStripeSubscriptionId } from '../support/ids.ts';
import { type EventVariants, readTable, type StateOfEachKind, walkStates } from '../support/state-tables.ts';

const charge: Charge = {
  subscriptionId: toStripeSubscriptionId('sub_1'),
  itemId: 'si_1',
  priceId: 'price_1',
  prorationDate: null,
  endTrial: true,
  discounts: null,
  announcedCents: 9_900,
  beganAt: 0,
};
const invoiceId = toStripeInvoiceId('in_1');
const secret = { clientSecret: 'pi_1_secret', amountCents: 9_900 };

const states: StateOfEachKind<PurchaseState> = {
  open: { kind: 'open' },
  approved: { kind: 'approved' },
  scheduling: { kind: 'scheduling', follows: 'chosen' },
  charging: { kind: 'charging', charge },
  sending: { kind: 'sending', charge },
  paying: { kind: 'paying', charge, invoiceId },
  applying: { kind: 'applying', charge },
  'action-required': { kind: 'action-required', charge, ...secret },
  declined: { kind: 'declined', charge, message: 'Your card was declined.' },
  processing: { kind: 'processing', charge, amountCents: 9_900 },
  ending: { kind: 'ending', charge, message: 'The bank has refused the debit.' },
  withdrawing: { kind: 'withdrawing', charge, invoiceId },
  paid: { kind: 'paid', invoiceId },
  abandoned: { kind: 'abandoned' },
};

type EventOfKind<Kind extends PurchaseEvent['kind']> = Extract<PurchaseEvent, { kind: Kind }>;
type Facts = EventOfKind<'stripe-read'>['facts'];

const card = { paymentMethodId: 'pm_1', brand: 'visa', lastFour: '4242', expMonth: 12, expYear: 2034 };
const membership: EventOfKind<'confirmed'>['membership'] = {
  status: 'active',
  pricedPlanId: toPlanId('10'),
  unpaid: null,
  pending: null,
  pause: null,
  card,
  nextPlanId: null,
  cancelAtPeriodEnd: false,
};
const unpaid = { invoiceId, amountCents: 9_900, why: 'failed', attempts: 1, nextAttemptAt: null, url: null } as const;
const debit = { planId: toPlanId('10'), invoiceId, amountCents: 9_900, expiresAt: 0, debit: 'renewal' } as const;
const confirmed = (
  change: EventOfKind<'confirmed'>['change'],
  more: Partial<typeof membership> = {},
  announcedCents = change === 'first' || change === 'upgrade' ? 9_900 : 0,
): EventOfKind<'confirmed'> => ({
  kind: 'confirmed',
  membership: { ...membership, ...more },
  change,
  announcedCents,
  renewing: false,
  lacksDetails: false,
});
const read = (facts: Facts, retries = false): EventOfKind<'stripe-read'> => ({ kind: 'stripe-read', facts, retries });
const pending = (payment: Extract<Facts, { kind: 'pending' }>['payment']): Facts => ({
  kind: 'pending',
  invoiceId,
  payment,
});
const debited = (payment: Extract<Facts, { kind: 'debited' }>['payment']) => ({ kind: 'debited', payment }) as const;
const declined = pending({ kind: 'declined', message: 'Your card was declined.' });

const events: EventVariants<PurchaseEvent> = {
  confirmed: {
    'first purchase': confirmed('first'),
    upgrade: confirmed('upgrade'),
    'upgrade while a renewal is charged': { ...confirmed('upgrade'), renewing: true },
    'upgrade without a card': confirmed('upgrade', { card: null }),
    'upgrade without billing details': { ...confirmed('upgrade'), lacksDetails: true },
    'renewal unpaid': confirmed('upgrade', { unpaid }),
    'debit under way': confirmed('upgrade', { pending: debit }),
    'subscription paused': confirmed('upgrade', { status: 'paused' }),
    'lower plan': confirmed('later'),
    'lower plan, an amount announced': confirmed('later', {}, 100),
    'same plan': confirmed('none'),
    'same plan, which was to end': confirmed('none', { cancelAtPeriodEnd: true }),
  },
  priced: {
    'as announced': { kind: 'priced', charge, announcedCents: 9_900 },
    'another amount': { kind: 'priced', charge, announcedCents: 9_800 },
    'another amount later': {
      kind: 'priced',
      charge: { ...charge, laterCents: '59900' },
      announcedCents: 9_900,
      laterCents: '49900',
    },
  },
  'later-priced': {
    'as announced': { kind: 'later-priced', laterCents: '9900', announced: '9900' },
    'nothing announced': { kind: 'later-priced', laterCents: '9900', announced: undefined },
    'another amount': { kind: 'later-priced', laterCents: '9900', announced: '8900' },
  },
  scheduled: { '': { kind: 'scheduled' } },
  'stripe-read': {
    'not there': read({ kind: 'absent', over: false }),
    'not there, retried': read({ kind: 'absent', over: false }, true),
    'not there, too old': read({ kind: 'absent', over: true }, true),
    applied: read({ kind: 'applied', invoiceId }),
    'applied, debit under way': read(debited({ kind: 'processing', amountCents: 9_900 })),
    'applied, debit refused': read(debited({ kind: 'failed', message: 'The bank has refused the debit.' }), true),
    'waits, paid': read(pending({ kind: 'succeeded' }), true),
    'waits, void': read(pending({ kind: 'void' })),
    'waits for the bank': read(pending({ kind: 'action-required', ...secret }), true),
    'waits, declined': read(declined),
    'waits, declined, retried': read(declined, true),
  },
  'stripe-refused': { '': { kind: 'stripe-refused' } },
  'given-up': {
    'not there': { kind: 'given-up', place: { kind: 'absent', over: false } },
    waits: { kind: 'given-up', place: { kind: 'pending', invoiceId } },
    applied: { kind: 'given-up', place: { kind: 'applied', invoiceId } },
    'debit under way': { kind: 'given-up', place: debited({ kind: 'processing', amountCents: 9_900 }) },
  },
  voided: { '': { kind: 'voided' } },
};

describe('The states of a purchase', () => {
  it('Every event in every state leads to the state or the refusal of the documented table', () => {
    const walked = walkStates(states, events, (state, event) => {
      const next = transition(state, event);
      if (next.kind === 'refused') return `refused: ${next.why}`;
      if (next.kind === 'scheduling') return `scheduling: ${next.follows}`;
      return next.kind === 'open' && next.dropsPromotion ? 'open: without its code' : next.kind;
    });
    expect(walked).toEqual(readTable('docs/architecture/billing.md', 'States of a purchase'));
  });

  it('A request is sent and a declined invoice is paid only when the user wants to pay', () => {
    const all = Object.values<PurchaseEvent>(events['stripe-read']);
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...all), { maxLength: 12 }), (reads) => {
        let state: PurchaseState = states.charging;
        for (const event of reads) {
          const next: ReturnType<typeof transition> = transition(state, event);
          if (next.kind === 'refused') throw new Error('a read was refused');
          const acts = next !== state && (next.kind === 'sending' || next.kind === 'paying');
          if (acts) expect(event).toMatchObject({ retries: true });
          state = next;
        }
      }),
    );
  });

  it('Attack: a purchase that is over does not start again, whatever happens', () => {
    const all = Object.values(events).flatMap((variants) => Object.values<PurchaseEvent>(variants));
    for (const state of [states.paid, states.abandoned]) {
      for (const event of all) expect(transition(state, event)).toEqual(state);
    }
  });
});
