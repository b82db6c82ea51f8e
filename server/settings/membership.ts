import type { Request, Response, Router } from 'express';
import { createElement } from 'react';
import { MembershipCard, UnpaidOnHome } from '../../views/settings/membership-card.tsx';
import { MembershipPage } from '../../views/settings/membership-page.tsx';
import { membershipPath } from '../../views/settings/tabs.ts';
import { waitingDeal } from '../checkout/index.ts';
import { methodNotAllowed, query } from '../http/index.ts';
import { BillingUnavailable, type InvoiceShown, ordersOf } from '../membership/index.ts';
import type { CardSource } from './cards.ts';
import type { SettingsDeps } from './deps.ts';
import { forMember, type MemberHandler, type SignedIn } from './guard.ts';
import { invoiceRows, shownMembership } from './membership-shown.ts';
import { membershipNoticeOf } from './notices.ts';

/** The card on the settings' home; nothing where there is neither a plan nor a way to one. */
export const membershipCard: CardSource = async (deps, _req, member) => {
  const standing = await deps.membership.standing(member.user.id);
  if (!deps.membership.sold && !standing && member.user.planId === null) return undefined;
  const shown = shownMembership(deps, member, standing);
  return (ctx) => createElement(MembershipCard, { ctx, shown: shown(ctx) });
};

/** Above the home, as long as a payment waits for the member. */
export const unpaidCard: CardSource = async (deps, _req, member) => {
  const standing = await deps.membership.standing(member.user.id);
  if (!standing?.unpaid || standing.noted === 'cancel') return undefined;
  const shown = shownMembership(deps, member, standing);
  return (ctx) => createElement(UnpaidOnHome, { ctx, shown: shown(ctx) });
};

/** undefined: Stripe does not answer. Who is no customer of Stripe's has none. */
async function invoicesOf(
  { membership, log }: SettingsDeps,
  { user }: SignedIn,
  isCustomer: boolean,
): Promise<readonly InvoiceShown[] | undefined> {
  if (!membership.sold || !isCustomer) return [];
  try {
    return await membership.invoices(user);
  } catch (error) {
    if (!(error instanceof BillingUnavailable)) throw error;
    log.warn({ err: error, act: 'settings: invoices' }, 'Stripe does not answer');
    return undefined;
  }
}

/** What is stored, with Stripe's invoices as far as Stripe answers. */
export async function sendMembership(deps: SettingsDeps, req: Request, res: Response, member: SignedIn): Promise<void> {
  const { membership, database, pages } = deps;
  const [standing, orders, deal] = await Promise.all([
    membership.standing(member.user.id),
    ordersOf(database.db, member.user.id),
    waitingDeal(deps, member.user),
  ]);
  const invoices = await invoicesOf(deps, member, typeof standing?.customerId === 'string');
  const shown = shownMembership(deps, member, standing, deal);
  const done = membershipNoticeOf(query(req, 'notice'));
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(MembershipPage, {
        ctx,
        shown: shown(ctx),
        invoices: invoiceRows(ctx, membership, invoices, orders),
        away: invoices === undefined,
        notice: done && ctx.t(done),
      }),
    { title: (ctx) => ctx.t('membership.title'), address: membershipPath },
  );
}

const show =
  (deps: SettingsDeps): MemberHandler =>
  (req, res, member) =>
    sendMembership(deps, req, res, member);

export function membershipRoutes(router: Router, deps: SettingsDeps): void {
  router
    .route(membershipPath)
    .get(forMember(deps, show(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
}
