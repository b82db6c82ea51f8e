import type { User } from '../../server/users/index.ts';
import { service } from '../api/callers.ts';
import { sendRequest } from '../support/send-request.ts';
import type { Shop } from './steps.ts';

/** What a call answered. */
export interface Answer {
  status: number;
  body: Record<string, unknown> & { errors?: { name: string; detail: string }[]; detail?: string };
}

export type Call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<Answer>;

const answered = async (response: Response): Promise<Answer> => ({
  status: response.status,
  body: (await response.json()) as Answer['body'],
});

/** Calls of a member's own pages. */
export async function asMember({ foyer }: Pick<Shop, 'foyer'>, user: User): Promise<Call> {
  const browser = await foyer.signedIn(user);
  return async (method, path, body) =>
    answered(
      await browser.request(path, {
        method,
        headers: { origin: foyer.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
}

/** Calls of a client app for itself. */
export async function asClient({ foyer }: Shop, ...scopes: string[]): Promise<Call> {
  const { token } = await service(foyer, scopes);
  return async (method, path, body) =>
    answered(
      await sendRequest(foyer.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
}

export interface Buyer {
  user: User;
  call: Call;
  customer: string;
  subscription: string;
  /** `/customer/…/subscription/…` */
  path: string;
}

/** A member with a customer and the subscription on which members begin; with a card, unless `card` is null. */
export async function aBuyer(shop: Shop, card: string | null | undefined = undefined): Promise<Buyer> {
  const user = await shop.foyer.addUser();
  const { customerId, subscriptionId } = await shop.membership.ensure(user, 7);
  if (customerId === null || subscriptionId === null) throw new Error('no subscription');
  if (card !== null) await shop.saveCard(user, card);
  return {
    user,
    call: await asMember(shop, user),
    customer: customerId,
    subscription: subscriptionId,
    path: `/customer/${customerId}/subscription/${subscriptionId}`,
  };
}

/** Whole payload of the specification for a plan of 99 dollars a month. */
export const starter = {
  plan_name: 'm-99',
  plan_amount: '99',
  interval: 'month',
  amount: '99.00',
  validity: 30,
  currency: 'usd',
  purchase_type: 'plan',
  discountCoupon: '',
  recurDiscount: '0.00',
  checkout_type: 'card',
};

/** Everything that was ever charged to the customer at Stripe, in cents. */
export async function chargedTo({ stripe }: Shop, customer: string): Promise<number[]> {
  const { data } = await stripe.client().invoices.list({ customer, status: 'paid', limit: 100 });
  return data.flatMap(({ amount_paid: cents }) => (cents > 0 ? [cents] : []));
}
