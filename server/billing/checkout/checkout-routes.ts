import type { Router } from 'express';
import { type AddPage, pageRoutes } from '../../http/index.ts';
import { afterPayments, type CheckoutHandler, requireCheckout } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { giftPath, postSignUpFlow, purchaseFlow, type ResolveCheckoutFlow, signUpFlow } from './checkout-flow.ts';
import { showChangePlan, submitChangePlan } from './choose-plan-handlers.ts';
import { showCompleted } from './completed-handlers.ts';
import { showDetails, submitDetails } from './details-handlers.ts';
import { showGift, submitGift } from './gift-handlers.ts';
import { decideDeal, showPartnerDeal } from './partner-deal-handlers.ts';
import { showPayment, startCardSetup, submitPayment } from './payment-handlers.ts';
import { unlessPaying } from './started-payment.ts';
import { requireDetails, requirePayablePlan, showSummary, submitSummary } from './summary-handlers.ts';

export function checkoutRoutes(router: Router, deps: CheckoutDeps): void {
  const add = pageRoutes(router, deps);
  for (const path of ['/signup/completed/:code', '/signup/completed/plan/:planHash/:code']) {
    add(path, { get: showCompleted });
  }
  for (const path of ['/plan-purchase-appsumo/', '/plan-purchase-appsumo/:planId']) {
    add(path, { get: showPartnerDeal, post: decideDeal });
  }
  // Without Stripe nothing is for sale.
  if (!deps.membership.sold) return;
  if (deps.membership.catalogue.gifts) add(giftPath, { get: showGift, post: submitGift });

  for (const base of ['/signup', '/signup/plan/:planHash']) {
    flowRoutes(add, signUpFlow, {
      summary: `${base}/verifiedCode`,
      changePlan: `${base}/changePlan`,
      payment: `${base}/addPayment`,
      details: `${base}/billingDetails`,
    });
  }
  flowRoutes(add, postSignUpFlow, {
    summary: '/post-signup/plan',
    changePlan: '/post-signup/changePlan',
    payment: '/post-signup/addPayment',
    details: '/post-signup/billingDetails',
  });
  flowRoutes(add, purchaseFlow, {
    summary: '/plan-purchase/:planId',
    changePlan: '/plan-purchase',
    payment: '/plan-purchase/:planId/addPayment',
    details: '/plan-purchase/:planId/billingDetails',
  });
}

/** The pages of one flow. */
function flowRoutes(
  add: AddPage<CheckoutDeps>,
  resolveFlow: ResolveCheckoutFlow,
  paths: { summary: string; changePlan: string; payment: string; details: string },
): void {
  const inFlow = (handler: CheckoutHandler) => requireCheckout(resolveFlow, handler);
  const toPay = (handler: CheckoutHandler) => inFlow(requirePayablePlan(handler));
  const withDetails = (handler: CheckoutHandler) => requirePayablePlan(requireDetails(handler));
  add(paths.summary, { get: inFlow(unlessPaying(showSummary)), post: inFlow(afterPayments(submitSummary)) });
  add(paths.changePlan, { get: inFlow(showChangePlan), post: inFlow(submitChangePlan) });
  add(paths.payment, {
    get: inFlow(unlessPaying(withDetails(showPayment))),
    post: inFlow(afterPayments(withDetails(submitPayment))),
  });
  add(paths.details, { get: toPay(showDetails), post: toPay(submitDetails) });
  add(`${paths.payment}/setup`, { post: toPay(startCardSetup) });
}
