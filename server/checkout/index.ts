/**
 * The module of the step PLAN in all flows (the specification's section 2: step 2 of a sign-up, the post-signup flow,
 * plan purchase, the partner's deal, the completion pages): choosing a plan, its summary with promotion code and
 * amounts, its payment.
 * Owns these pages and forms. Does not own plans, amounts, promotion codes, cards nor the rule for the effective plan
 * (membership/), the earlier steps (sign-up/), nor the next step (sign-in/): amounts in forms are only compared with
 * the announced ones.
 */

export {
  type CardPageDeps,
  type CardPagePaths,
  cardPage,
  type PaymentAction,
  renderPaymentAction,
} from './card-handlers.ts';
export { tooManyText } from './checkout-texts.ts';
export type { CheckoutDeps } from './deps.ts';
export { findWaitingDeal, partnerDealUrl } from './partner-deal.ts';
export { planLine, planPrice } from './plan-view.ts';
export { checkoutRoutes } from './routes.ts';
export { runOrRerender } from './run-or-rerender.ts';
export type { StripeForBrowsers } from './stripe-js.ts';
