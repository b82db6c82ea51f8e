import type Stripe from 'stripe';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import type { Shop } from './steps.ts';

export const path = '/settings/membership/details';
export const minuteMs = 60_000;
export const berlin = { country: 'DE', postal_code: '10115' };
export const refusedField = (html: string, name: string): string =>
  new RegExp(`id="field-${name}-error"[^>]*>(?:<svg.*?</svg>)?([^<]*)`, 's').exec(html)?.[1] ?? '';

export interface Buyer {
  user: User;
  browser: Browser;
  customer: string;
}

export const customerOf = async (shop: Shop, { customer }: Buyer): Promise<Stripe.Customer> => {
  const found = await shop.stripe.client().customers.retrieve(customer);
  if (found.deleted) throw new Error('the customer is gone');
  return found;
};

export const vatIdsOf = async (shop: Shop, { customer }: Buyer): Promise<string[]> =>
  (await shop.stripe.client().customers.listTaxIds(customer)).data.map(({ type, value }) => `${type} ${value}`);

export async function buyer(shop: Shop): Promise<Buyer> {
  const user = await shop.foyer.addUser({ givenName: 'Ada', familyName: 'Lovelace' });
  const { customerId } = await shop.membership.ensure(user, 7);
  return { user, browser: await shop.foyer.signedIn(user), customer: customerId ?? '' };
}

export const enter = (browser: Browser, fields: Record<string, string>) => browser.post(path, { ...berlin, ...fields });
export const saved = (response: Response) => response.headers.get('location')?.endsWith('#membership:details') === true;
