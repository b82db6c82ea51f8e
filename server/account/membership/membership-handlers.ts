import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { MembershipCard, UnpaidOnHome } from '../../../views/account/membership-card.tsx';
import { MembershipPage } from '../../../views/account/membership-page.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { findWaitingDeal, type InvoiceView, listOrders, StripeUnavailableError } from '../../billing/index.ts';
import { methodNotAllowed, readQueryParam } from '../../http/index.ts';
import type { AccountDeps } from '../deps.ts';
import type { HomeCardSource } from '../home-cards.ts';
import { findMembershipNotice } from '../notices.ts';
import { type MemberHandler, requireUser, type SignedInUser } from '../require-recent-auth.ts';
import { invoiceRows, toMembershipView } from './membership-view.ts';

/** The card on the settings' home; none without a plan or plans on sale. */
export const membershipCard: HomeCardSource = async (member, deps) => {
  const currentMembership = await deps.membership.getMembership(member.user.id);
  if (!deps.membership.sold && !currentMembership && member.user.planId === null) return undefined;
  const view = toMembershipView(deps, member, currentMembership);
  return (ctx) => createElement(MembershipCard, { ctx, membership: view(ctx) });
};

/** Above the home, while a payment waits for the user. */
export const unpaidCard: HomeCardSource = async (member, deps) => {
  const currentMembership = await deps.membership.getMembership(member.user.id);
  if (!currentMembership?.unpaid || currentMembership.noted === 'cancel') return undefined;
  const view = toMembershipView(deps, member, currentMembership);
  return (ctx) => createElement(UnpaidOnHome, { ctx, membership: view(ctx) });
};

/** undefined: Stripe does not answer. A user without a customer has none. */
async function listInvoices(
  { membership, log }: AccountDeps,
  { user }: SignedInUser,
  isCustomer: boolean,
): Promise<readonly InvoiceView[] | undefined> {
  if (!membership.sold || !isCustomer) return [];
  try {
    return await membership.invoices(user);
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    log.warn({ err: error, act: 'settings: invoices' }, 'Stripe does not answer');
    return undefined;
  }
}

/** The stored data, with Stripe's invoices if Stripe answers. */
export async function renderMembershipPage(
  deps: AccountDeps,
  req: Request,
  res: Response,
  member: SignedInUser,
): Promise<void> {
  const { membership, database, pages } = deps;
  const [currentMembership, orders, deal] = await Promise.all([
    membership.getMembership(member.user.id),
    listOrders(database.db, member.user.id),
    findWaitingDeal(deps, member.user),
  ]);
  const invoices = await listInvoices(deps, member, typeof currentMembership?.customerId === 'string');
  const view = toMembershipView(deps, member, currentMembership, deal);
  const done = findMembershipNotice(readQueryParam(req, 'notice'));
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(MembershipPage, {
        ctx,
        membership: view(ctx),
        invoices: invoiceRows(ctx, membership, invoices, orders),
        stripeUnavailable: invoices === undefined,
        notice: done && ctx.t(done),
      }),
    { title: (ctx) => ctx.t('membership.title'), address: membershipPath },
  );
}

const show =
  (deps: AccountDeps): MemberHandler =>
  (req, res, member) =>
    renderMembershipPage(deps, req, res, member);

export function membershipRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(membershipPath)
    .get(requireUser(deps, show(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
}
