import type { Browser } from '../../support/browser.ts';
import type { Shop } from './shop.ts';

/** Stripe's test cards, as far as payment pages need them. */
export const cards = {
  visa: '4242424242424242',
  mastercard: '5555555555554444',
  /** Refused when it is saved. */
  declined: '4000000000000002',
  /** Saves, then every charge is declined. */
  chargeDeclined: '4000000000000341',
  /** Its bank asks when it is saved, not later. */
  asksOnce: '4000002500003155',
  /** Its bank asks when it is saved and at every payment. */
  asksAlways: '4000002760003184',
} as const;

/** What a page gives to one of its islands. */
export function islandProps(html: string, name: string): Record<string, unknown> {
  const found = new RegExp(`data-island="${name}"[^>]* data-props="([^"]*)"`).exec(html)?.[1];
  if (found === undefined) throw new Error(`there is no ${name} on the page`);
  return JSON.parse(found.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&'));
}

/** Does what Stripe.js does with a card that was typed. @returns the setup intent's id */
export function confirmCard({ standIn }: Pick<Shop, 'standIn'>, clientSecret: string, number: string): string {
  const [id = ''] = clientSecret.split('_secret_');
  const card = { number, exp_month: 12, exp_year: 2034, cvc: '123' };
  const billing = { name: 'Vera Lindqvist', address: { postal_code: '10115' } };
  const data = { client_secret: clientSecret, payment_method_data: { type: 'card', card, billing_details: billing } };
  standIn.engine.call({ method: 'POST', path: `/v1/setup_intents/${id}/confirm`, params: data, as: 'publishable' });
  if (standIn.engine.find(id)?.status === 'requires_action') standIn.engine.authenticate(id, 'succeed');
  return id;
}

/** Opens a page with a card form, and does what its island does with a card that Stripe accepts. */
export async function saveCardAt(
  shop: Pick<Shop, 'standIn'>,
  browser: Browser,
  path: string,
  number: string,
  tampered: Record<string, string> = {},
): Promise<Response> {
  const { action, fields, setupUrl } = islandProps(await (await browser.get(path)).text(), 'card-form') as {
    action: string;
    fields: Record<string, string>;
    setupUrl: string;
  };
  const { clientSecret } = (await (await browser.postJson(setupUrl, {})).json()) as { clientSecret: string };
  const setupIntent = confirmCard(shop, clientSecret, number);
  return browser.post(action, { ...fields, setupIntent, ...tampered });
}
