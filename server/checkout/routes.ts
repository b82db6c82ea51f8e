import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { showChangePlan, submitChangePlan } from './change-plan.ts';
import { showCompleted } from './completed.ts';
import type { CheckoutDeps } from './deps.ts';
import { atPlace, type PlaceHandler } from './here.ts';
import { decideDeal, showDeal } from './partner-deal.ts';
import { beginCardSetup, submitPayment } from './pay.ts';
import { showPayment } from './payment-page.ts';
import { atPostSignUp, atPurchase, atSignUp, type PlaceOf } from './place.ts';
import { readyToPay, showSummary, submitSummary } from './summary.ts';

export function checkoutRoutes(router: Router, deps: CheckoutDeps): void {
  for (const path of ['/signup/completed/:code', '/signup/completed/plan/:planHash/:code']) {
    router.route(path).get(showCompleted(deps)).all(methodNotAllowed('GET', 'HEAD'));
  }
  for (const path of ['/plan-purchase-appsumo/', '/plan-purchase-appsumo/:planId']) {
    router
      .route(path)
      .get(showDeal(deps))
      .post(decideDeal(deps))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  }
  // Where nothing can be charged, nothing is for sale.
  if (!deps.membership.sold) return;

  const form = (path: string, placeOf: PlaceOf, show: PlaceHandler, submit: PlaceHandler) => {
    router
      .route(path)
      .get(atPlace(deps, placeOf, show))
      .post(atPlace(deps, placeOf, submit))
      .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  };
  const summary = (path: string, placeOf: PlaceOf) => form(path, placeOf, showSummary(deps), submitSummary(deps));
  const changePlan = (path: string, placeOf: PlaceOf) =>
    form(path, placeOf, showChangePlan(deps), submitChangePlan(deps));
  const payment = (path: string, placeOf: PlaceOf) => {
    form(path, placeOf, readyToPay(deps, showPayment(deps)), readyToPay(deps, submitPayment(deps)));
    router
      .route(`${path}/setup`)
      .post(atPlace(deps, placeOf, readyToPay(deps, beginCardSetup(deps))))
      .all(methodNotAllowed('POST'));
  };
  for (const base of ['/signup', '/signup/plan/:planHash']) {
    summary(`${base}/verifiedCode`, atSignUp);
    changePlan(`${base}/changePlan`, atSignUp);
    payment(`${base}/addPayment`, atSignUp);
  }
  summary('/post-signup/plan', atPostSignUp);
  changePlan('/post-signup/changePlan', atPostSignUp);
  payment('/post-signup/addPayment', atPostSignUp);
  changePlan('/plan-purchase', atPurchase);
  summary('/plan-purchase/:planId', atPurchase);
  payment('/plan-purchase/:planId/addPayment', atPurchase);
}
