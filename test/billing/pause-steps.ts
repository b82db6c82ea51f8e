import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { path, standing } from '../account/membership-steps.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';

export const hourMs = 60 * 60_000;

/** A shop whose members may pause, which hears of Stripe's events. */
export async function startPauseShop(
  options: Parameters<typeof startShop>[2] = {},
  plans: Parameters<typeof plansWith>[0] = {},
): Promise<Shop> {
  const file = plansWith({ pause: { months: [1, 2, 3] }, ...plans });
  const shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: file }, options);
  shop.stripe.tell(shop.foyer.url);
  return shop;
}

/** The hidden fields of a page's form. */
export function hiddenFields(html: string): Record<string, string> {
  const fields = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]));
}

/** The page of an act and its form. */
export async function openAct(browser: Browser, act: 'pause' | 'resume' | 'cancel') {
  const html = await (await browser.get(`${path}/${act}`)).text();
  return { html, fields: hiddenFields(html) };
}

/** Chooses a pause on its page. @returns where the form leads */
export async function pauseFor(browser: Browser, months: number): Promise<string | null> {
  const { fields } = await openAct(browser, 'pause');
  const answer = await browser.post(`${path}/pause`, { ...fields, months: String(months) });
  return answer.headers.get('location');
}

/** What Stripe has of a member's subscription, also of one that has ended. */
export async function atStripe(shop: Shop, user: User) {
  const { customerId } = await standing(shop, user);
  const { data } = await shop.stripe.client().subscriptions.list({
    customer: customerId ?? '',
    status: 'all',
    expand: ['data.schedule', 'data.latest_invoice'],
  });
  const [found] = data;
  if (!found) throw new Error('Stripe has no subscription of the member');
  return found;
}

/** The paid amounts of a member, the oldest first. */
export const charges = async (shop: Shop, user: User): Promise<number[]> =>
  (await listOrders(shop.foyer.deps.database.db, user.id)).map(({ paidCents }) => paidCents).toReversed();

/** Moves both clocks, in steps of half a day, with the jobs. */
export async function pass(shop: Shop, untilMs: number): Promise<void> {
  for (let left = untilMs - shop.stripe.engine.nowMs(); left > 0; left = untilMs - shop.stripe.engine.nowMs()) {
    shop.passTime(Math.min(left, dayMs / 2));
    await shop.stripe.webhooks.idle();
    await shop.membership.work();
  }
}

/** A request that changes something at Stripe. */
export const isWrite = (method: string, at: string) => method === 'POST' && !at.includes('create_preview');

export const faultKinds = ['unreachable', 'lost', 'error'] as const;

/** Does something while the writing request of this number fails. @returns whether there was such a request */
export async function failing<T>(
  { stripe }: Pick<Shop, 'stripe'>,
  { kind, nth }: { kind: (typeof faultKinds)[number]; nth: number },
  act: () => Promise<T>,
): Promise<boolean> {
  let seen = 0;
  let failed = false;
  let isOver = false;
  stripe.fault(kind, (method, at) => {
    if (isOver || !isWrite(method, at)) return false;
    seen += 1;
    failed = seen === nth;
    return failed;
  });
  await act();
  isOver = true;
  return failed;
}
