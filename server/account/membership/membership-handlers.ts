import { createElement } from 'react';
import { MembershipCard, UnpaidOnHome } from '../../../views/account/membership-card.tsx';
import { MembershipPage } from '../../../views/account/membership-page.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { findWaitingDeal, type InvoiceView, listOrders, toDetailsView } from '../../billing/index.ts';
import { requireUser, type UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { HomeCardSource } from '../home-card-source.ts';
import { findMembershipNotice } from '../notices.ts';
import type { PageRoute } from '../settings-page.ts';
import { readIfAvailable } from './ask-stripe.ts';
import { invoiceRows } from './invoice-rows.ts';
import { amountIn, toMembershipView } from './membership-view.ts';

/** The card on the settings' home; none without a plan or plans on sale. */
export const membershipCard: HomeCardSource = async (r, deps) => {
  const membership = await deps.membership.getMembership(r.user.id);
  if (!deps.membership.sold && !membership && r.user.planId === null) return undefined;
  const view = toMembershipView(r, deps, { membership });
  return (ctx) => createElement(MembershipCard, { ctx, membership: view });
};

/** Above the home, while a payment waits for the user. */
export const unpaidCard: HomeCardSource = async (r, deps) => {
  const membership = await deps.membership.getMembership(r.user.id);
  if (!membership?.unpaid || membership.noted === 'cancel') return undefined;
  const view = toMembershipView(r, deps, { membership });
  return (ctx) => createElement(UnpaidOnHome, { ctx, membership: view });
};

/** undefined: Stripe does not answer. A user without a customer has none. */
async function listInvoices(
  r: UserRequest,
  { membership }: AccountDeps,
  isCustomer: boolean,
): Promise<readonly InvoiceView[] | undefined> {
  if (!membership.sold || !isCustomer) return [];
  return readIfAvailable(r, 'settings: invoices', () => membership.invoices(r.user));
}

/** The stored data, with Stripe's invoices if Stripe answers. */
async function show(r: UserRequest, deps: AccountDeps): Promise<void> {
  const { database, membership: billing } = deps;
  const [membership, orders, deal, details] = await Promise.all([
    billing.getMembership(r.user.id),
    listOrders(database.db, r.user.id),
    findWaitingDeal(deps, r.user),
    billing.findDetails(r.user.id),
  ]);
  const invoices = await listInvoices(r, deps, typeof membership?.customerId === 'string');
  const notice = r.takeNotice(findMembershipNotice);
  r.render(
    MembershipPage,
    {
      membership: {
        ...toMembershipView(r, deps, { membership, deal }),
        details: billing.sold ? toDetailsView(r, r.user, details) : undefined,
        withdrawalUntil: (await billing.findWithdrawal(r.user.id))?.until,
      },
      invoices: invoiceRows(r, billing.catalogue, { invoices, orders, membership }),
      stripeUnavailable: invoices === undefined,
      notice: notice && {
        text: r.t(notice.text, notice.back && { amount: amountIn(r, notice.back.currency)(notice.back.cents) }),
        stays: notice.stays,
      },
    },
    { title: 'membership.title', address: membershipPath },
  );
}

export const membershipPage: PageRoute = { path: membershipPath, get: requireUser(show) };
