import type { StripeStandIn } from './stripe/index.ts';

/** Examples: a percentage and an amount, once and for good, and an expired one. */
const offers = [
  { code: 'WELCOME20', coupon: { percent_off: 20, duration: 'once', name: '20 % off the first payment' } },
  { code: 'HALF', coupon: { percent_off: 50, duration: 'forever', name: 'Half price' } },
  {
    code: 'TENOFF',
    coupon: { amount_off: 1_000, currency: 'usd', duration: 'once', name: '$10 off the first payment' },
  },
  { code: 'GONE', coupon: { percent_off: 90, duration: 'once', name: '90 % off the first payment' }, active: false },
] as const;

/** Creates example promotion codes if there are none. */
export function seedPromotionCodes({ engine }: Pick<StripeStandIn, 'engine'>): void {
  const { data } = engine.call({ method: 'GET', path: '/v1/promotion_codes' }) as { data: unknown[] };
  if (data.length > 0) return;
  for (const { code, coupon, ...more } of offers) {
    const { id } = engine.call({ method: 'POST', path: '/v1/coupons', params: { ...coupon } }) as { id: string };
    engine.call({
      method: 'POST',
      path: '/v1/promotion_codes',
      params: { code, promotion: { type: 'coupon', coupon: id }, ...more },
    });
  }
}
