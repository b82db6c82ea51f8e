import type { Browser } from '../../support/browser.ts';
import { readForm, type Shop } from './shop.ts';

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

/** The form of a card, with its hidden fields, and the address that its island asks. */
export function readCardForm(html: string): { action: string; fields: Record<string, string>; setupUrl: string } {
  const form = /<form [^>]*id="pay".*?<\/form>/s.exec(html)?.[0];
  if (form === undefined) throw new Error('there is no form of a card on the page');
  return { ...readForm(form), setupUrl: String(islandProps(form, 'card-form').setupUrl) };
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
  const { action, fields, setupUrl } = readCardForm(await (await browser.get(path)).text());
  const { clientSecret } = (await (await browser.postJson(setupUrl, {})).json()) as { clientSecret: string };
  const setupIntent = confirmCard(shop, clientSecret, number);
  return browser.post(action, { ...fields, setupIntent, ...tampered });
}

/** Stripe's test accounts, as far as tests need them. */
export const accounts = {
  succeeds: 'DE89370400440532013000',
  succeedsLate: 'DE08370400440532013003',
  fails: 'DE62370400440532013001',
  failsLate: 'DE78370400440532013004',
  disputed: 'DE35370400440532013002',
} as const;

/** The data of a payment method as Stripe's payment element sends it. */
export const methodData = {
  debit: (iban: string) => ({
    type: 'sepa_debit',
    sepa_debit: { iban },
    billing_details: { name: 'Vera Lindqvist', email: 'vera@example.com' },
  }),
  redirect: (type: 'ideal' | 'bancontact') => ({ type, billing_details: { name: 'Vera Lindqvist' } }),
};

/** Opens a page with a payment form and begins a setup there, as its island does. */
export async function beginMethodAt(browser: Browser, path: string) {
  const { action, fields, setupUrl } = readCardForm(await (await browser.get(path)).text());
  const { clientSecret } = (await (await browser.postJson(setupUrl, {})).json()) as { clientSecret: string };
  return { action, fields, clientSecret, setupIntent: clientSecret.split('_secret_')[0] ?? '' };
}

/** Confirms by the payment element. @param bank the customer's answer on the bank's page */
export function confirmMethod(
  { standIn }: Pick<Shop, 'standIn'>,
  { clientSecret, setupIntent }: { clientSecret: string; setupIntent: string },
  { data, bank }: { data: object; bank?: 'succeed' | 'fail' },
): void {
  const params = {
    client_secret: clientSecret,
    payment_method_data: data,
    return_url: 'https://foyer.example/back',
    use_stripe_sdk: true,
  };
  const path = `/v1/setup_intents/${setupIntent}/confirm`;
  standIn.engine.call({ method: 'POST', path, params, as: 'publishable' });
  if (bank) standIn.engine.authenticate(setupIntent, bank);
}
