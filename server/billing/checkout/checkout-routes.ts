import type { Router } from 'express';
import { methodNotAllowed } from '../../http/index.ts';
import { type CheckoutHandler, withCheckoutContext } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { postSignUpFlow, purchaseFlow, type ResolveCheckoutFlow, signUpFlow } from './checkout-flow.ts';
import { showChangePlan, submitChangePlan } from './choose-plan-handlers.ts';
import { showCompleted } from './completed-handlers.ts';
import { decideDeal, showPartnerDeal } from './partner-deal-handlers.ts';
import { showPayment } from './payment-handlers.ts';
import { startCardSetup, submitPayment } from './submit-payment.ts';
import { requirePayablePlan, showSummary, submitSummary } from './summary-handlers.ts';

export function checkoutRoutes(router: Router, deps: CheckoutDeps): void {
  for (const path of ['/signup/completed/:code', '/signup/completed/plan/:planHash/:code']) {
    router.route(path).get(showCompleted(deps)).all(methodNotAllowed('GET', 'HEAD'));
  }
  for (const path of ['/plan-purchase-appsumo/', '/plan-purchase-appsumo/:planId']) {
    router
      .route(path)
      .get(showPartnerDeal(deps))
      .post(decideDeal(deps))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  }
  // Without Stripe nothing is for sale.
  if (!deps.membership.sold) return;

  const form = (path: string, resolveFlow: ResolveCheckoutFlow, show: CheckoutHandler, submit: CheckoutHandler) => {
    router
      .route(path)
      .get(withCheckoutContext(deps, resolveFlow, show))
      .post(withCheckoutContext(deps, resolveFlow, submit))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  };
  const summary = (path: string, resolveFlow: ResolveCheckoutFlow) =>
    form(path, resolveFlow, showSummary(deps), submitSummary(deps));
  const changePlan = (path: string, resolveFlow: ResolveCheckoutFlow) =>
    form(path, resolveFlow, showChangePlan(deps), submitChangePlan(deps));
  const payment = (path: string, resolveFlow: ResolveCheckoutFlow) => {
    form(path, resolveFlow, requirePayablePlan(deps, showPayment(deps)), requirePayablePlan(deps, submitPayment(deps)));
    router
      .route(`${path}/setup`)
      .post(withCheckoutContext(deps, resolveFlow, requirePayablePlan(deps, startCardSetup(deps))))
      .all(methodNotAllowed('POST'));
  };
  for (const base of ['/signup', '/signup/plan/:planHash']) {
    summary(`${base}/verifiedCode`, signUpFlow);
    changePlan(`${base}/changePlan`, signUpFlow);
    payment(`${base}/addPayment`, signUpFlow);
  }
  summary('/post-signup/plan', postSignUpFlow);
  changePlan('/post-signup/changePlan', postSignUpFlow);
  payment('/post-signup/addPayment', postSignUpFlow);
  changePlan('/plan-purchase', purchaseFlow);
  summary('/plan-purchase/:planId', purchaseFlow);
  payment('/plan-purchase/:planId/addPayment', purchaseFlow);
}
