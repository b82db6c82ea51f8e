import { PayingPage } from '../../../views/billing/completed-page.tsx';
import type { T } from '../../http/index.ts';
import { isNext } from '../catalogue/catalogue.ts';
import {
  type Checkout,
  type CheckoutHandler,
  type CheckoutRequest,
  findPayingNotice,
  isOwnPlan,
  readPayingNotice,
  toPayingNotice,
} from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import type { PageNotice } from './checkout-texts.ts';
import { planLine } from './plan-view.ts';

const refreshedAfterSeconds = 8;

/** The page that follows a payment; it asks for the summary every few seconds, also without JavaScript. */
function renderPaying(r: CheckoutRequest, purchaseId: string): void {
  const { summary, continuation } = r.checkout.flow;
  // Each page keeps the notice alive until the payment has ended.
  r.announce(toPayingNotice(purchaseId));
  r.res.setHeader('Refresh', `${refreshedAfterSeconds}; url=${summary}`);
  r.render(PayingPage, { href: summary }, { title: 'checkout.paying.title', search: continuation.search });
}

/** Tests whether the plan of the page has come, or follows at the end of the period. */
async function hasArrived({ checkout }: CheckoutRequest, { membership }: CheckoutDeps): Promise<boolean> {
  if (isOwnPlan(checkout)) return true;
  const own = await membership.getMembership(checkout.user.id);
  return own !== undefined && isNext(own, checkout.plan);
}

/** While a payment of the user runs, no page offers to pay: a visit shows the page that follows it. */
export function unlessPaying(handler: CheckoutHandler): CheckoutHandler {
  return async (r, deps) => {
    const { flow, user, plan, purchase } = r.checkout;
    const { membership } = deps;
    const announced = findPayingNotice(r);
    const isStarted = purchase?.state === 'charging' || announced !== undefined;
    if (await membership.isPaying(user.id, isStarted ? 'everywhere' : 'here')) {
      return renderPaying(r, announced ?? purchase?.id ?? '');
    }
    if (announced === undefined) return handler(r, deps);
    if (await hasArrived(r, deps)) return r.redirect(flow.doneUrl(plan, user));
    // The payment may have ended since this request has read the purchase: what it has read is not its result.
    const present = await membership.purchase(user.id);
    const isCurrent = present?.id === purchase?.id && present?.state === purchase?.state;
    return isCurrent ? handler(r, deps) : r.redirect(flow.summary);
  };
}

/** After a payment that the browser has followed: the purchase is open again, so nothing was charged. */
export function unpaidNotice(r: CheckoutRequest): PageNotice | undefined {
  const { purchase } = r.checkout;
  const announced = r.takeNotice(readPayingNotice);
  if (announced === undefined || announced !== purchase?.id || purchase.state !== 'open') return undefined;
  return { kind: 'info', text: r.t('checkout.paying.notMade'), duration: 'never' };
}

/** A payment was started and not finished: it goes on, or another plan takes its place. */
export function unfinishedNotice(
  t: T,
  { flow, plan, purchase }: Pick<Checkout, 'flow' | 'purchase'> & { plan?: Checkout['plan'] },
): PageNotice | undefined {
  if (purchase?.state !== 'charging') return undefined;
  const notice = { kind: 'info', duration: 'never' } as const;
  if (purchase.plan.id === plan?.id) return { ...notice, text: t('checkout.unfinished') };
  const started = planLine(t, purchase.plan);
  return {
    ...notice,
    text: t('checkout.unfinishedOther', { plan: started }),
    link: { href: flow.summaryUrl(purchase.plan), label: t('checkout.finishOther', { plan: started }) },
  };
}
