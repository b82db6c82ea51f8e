import type { T } from '../../http/index.ts';
import type { Checkout } from './checkout-context.ts';
import type { PageNotice } from './checkout-texts.ts';
import { planLine } from './plan-view.ts';

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
