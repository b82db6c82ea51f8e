import { type Row, type Schema, uuidv7 } from '../../../server/store/index.ts';
import type { User } from '../../../server/users/index.ts';
import { toPlanId, toSha256, toStripeCustomerId, toStripeInvoiceId } from '../../support/ids.ts';
import { dayMs, marks, membershipRow } from './steps.ts';

const savedCard = { paymentMethodId: 'pm_marked', brand: 'visa', lastFour: '1881', expMonth: 12, expYear: 2030 };

/** One row of each table, with all its columns, so that a new column is not forgotten here. */
export type Rows = { [Table in keyof Schema]?: Row<Table> };

/** Rows of a user: their plan and payments. */
export function listBillingRows({ id }: User, at: number): Rows {
  return {
    memberships: membershipRow(id, at, { status: 'canceled', card: JSON.stringify(savedCard) }),
    billingDetails: {
      userId: id,
      name: 'Marked Name',
      company: 'Marked GmbH',
      line1: `${id}-${marks.old}`,
      line2: null,
      postalCode: '10115',
      city: 'Berlin',
      state: null,
      country: 'DE',
      vatId: 'DE000000000',
      vatIdStatus: 'verified',
      taxIdObject: 'txi_marked',
      createdAt: at,
      updatedAt: at,
    },
    purchases: {
      id: `purchase-${id}`,
      userId: id,
      openFor: id,
      planId: toPlanId('10'),
      seats: null,
      // Not as this release stores it: that must not keep a user from exporting or erasing an account.
      promotion: '{"typed":"marked10"}',
      state: 'open',
      attempt: 0,
      charge: null,
      quoted: null,
      invoiceId: null,
      createdAt: at,
      updatedAt: at,
    },
    // What stays of it must not lead to the member.
    orders: {
      id: uuidv7(),
      userId: id,
      invoiceId: toStripeInvoiceId(`in_${uuidv7()}`),
      invoiceNumber: null,
      invoiceUrl: null,
      customerId: toStripeCustomerId('cus_marked'),
      subscriptionId: null,
      planId: toPlanId('10'),
      orderPurchase: 'plan',
      orderType: 'upgrade',
      currency: 'usd',
      paidCents: 9_900,
      planAmountCents: 9_900,
      seats: null,
      usedCreditCents: 0,
      debtCents: 0,
      discountCents: 0,
      taxCents: 0,
      recurringDiscountCents: 0,
      voucher: null,
      refundedCents: 0,
      disputedAt: null,
      disputeState: null,
      creditNotes: JSON.stringify([
        {
          id: 'cn_marked',
          number: 'M-0001-CN-01',
          amountCents: 100,
          pdfUrl: 'https://pay.example/cn.pdf',
          createdAt: at,
        },
      ]),
      paymentIntentId: null,
      beginRequestedAt: at,
      beginWording: '1-en',
      card: '{"brand":"visa","lastFour":"1881"}',
      validityDays: 30,
      renewsAt: null,
      orderedAt: at,
      createdAt: at,
    },
    gifts: {
      id: uuidv7(),
      codeHash: toSha256(uuidv7()),
      planId: toPlanId('10'),
      months: 3,
      createdAt: at,
      expiresAt: at + dayMs,
      revokedAt: null,
      userId: id,
      redeemedAt: at,
      endsAt: at + dayMs,
    },
    trialClaims: { kind: 'email', valueHash: uuidv7(), userId: id, claimedAt: at },
    toldMembers: { userId: id, about: 'trial-ends', toldAt: at },
    billingTasks: {
      id: `task-${id}`,
      kind: 'keep',
      detail: null,
      userId: id,
      customerId: null,
      attempts: 0,
      lastError: null,
      planId: null,
      nextAttemptAt: at,
      createdAt: at,
    },
  };
}
