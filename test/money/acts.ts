import type { Engine } from '../../sandbox/stripe/index.ts';
import type { Outcome } from './ledger.ts';
import {
  type Announcement,
  findMoney,
  listForms,
  mainOf,
  type NextCharge,
  readAnnouncement,
  readResumptions,
  wordsOf,
} from './read-pages.ts';
import { type Arrival, islandProps, type Visitor } from './visitor.ts';

/** Stripe's test cards; after a slash the months that the card is valid, otherwise 48. */
export const cards = {
  good: '4242424242424242',
  other: '5555555555554444',
  third: '4000056655665556',
  /** Saves, then every charge is declined. */
  chargeDeclined: '4000000000000341',
  /** Its bank asks at every payment. */
  asksAlways: '4000002760003184',
  /** Its bank declines each charge after the end of the next month. */
  expiresSoon: '4000002760000016/1',
} as const;

export const membershipPath = '/settings/membership';

interface Hand {
  visitor: Visitor;
  engine: Engine;
}

/** Does what Stripe.js does with a card that a member has typed. @returns undefined if Stripe refuses it */
function confirmCard(engine: Engine, clientSecret: string, typed: string): string | undefined {
  const [id = ''] = clientSecret.split('_secret_');
  const [number, months = '48'] = typed.split('/');
  const today = new Date(engine.nowMs());
  const last = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + Number(months)));
  const card = { number, exp_month: last.getUTCMonth() + 1, exp_year: last.getUTCFullYear(), cvc: '123' };
  const data = { type: 'card', card, billing_details: { name: 'Ada', address: { postal_code: '10115' } } };
  try {
    const params = { client_secret: clientSecret, payment_method_data: data };
    engine.call({ method: 'POST', path: `/v1/setup_intents/${id}/confirm`, params, as: 'publishable' });
    if (engine.find(id)?.status === 'requires_action') engine.authenticate(id, 'succeed');
    return id;
  } catch {
    return undefined;
  }
}

/** Enters a card into the form of a page, and sends the form. @returns undefined: the page has no form, or no setup began */
async function enterCard({ visitor, engine }: Hand, html: string, number: string): Promise<Arrival | undefined> {
  const props = islandProps(html, 'card-form') as { setupUrl: string } | undefined;
  // The box stands inside the form, right above its button.
  const form = listForms(html).find(({ fields }) => fields.setupIntent !== undefined);
  if (!props || !form) return undefined;
  const begun = (await visitor.callScript(props.setupUrl, {})) as { clientSecret?: string } | undefined;
  const setupIntent = begun?.clientSecret && confirmCard(engine, begun.clientSecret, number);
  return setupIntent ? visitor.press(form.action, { ...form.fields, setupIntent }) : undefined;
}

export async function changeCard(hand: Hand, number: string): Promise<Outcome> {
  const page = await hand.visitor.open(`${membershipPath}/card`);
  const arrival = await enterCard(hand, page.html, number);
  if (!arrival) return page.status === 503 ? 'failed' : 'refused';
  return outcomeOf(arrival);
}

/** How the page says that an act has ended. */
export function outcomeOf({ status, at, html }: Arrival): Outcome {
  const text = wordsOf(mainOf(html));
  const isNoted = /is noted\. It’s passed on|Your withdrawal has arrived\./.test(text);
  if (at.startsWith('/signup/completed/')) return isNoted ? 'noted' : 'done';
  if (islandProps(html, 'payment-action')) return 'waits';
  if (status === 402) return 'declined';
  if (status === 409) return 'changed';
  if (status === 503 || status >= 500) return 'failed';
  if (status >= 400) return 'refused';
  if (isNoted) return 'noted';
  if (/There was nothing to change/.test(text)) return 'refused';
  return 'done';
}

interface Offer {
  announcement: Announcement | undefined;
  promo: string | undefined;
  /** A code that was refused because it is used up. */
  usedUp: string | undefined;
  page: Arrival;
}

/** What a page of a purchase announces, after a number of seats and a code were typed there if there are any. */
export async function announce(
  { visitor }: Hand,
  planId: string,
  { code, seats }: { code: string | undefined; seats?: number | undefined },
): Promise<Offer> {
  const path = `/plan-purchase/${planId}`;
  let page = await visitor.open(path);
  const field = listForms(page.html).find(({ fields }) => fields.act === 'seats');
  if (field && seats !== undefined) {
    await visitor.press(field.action, { ...field.fields, seats: String(seats) });
    page = await visitor.open(path);
  }
  const box = listForms(page.html).find(({ fields }) => fields.act === 'promo');
  let promo = listForms(page.html).some(({ fields }) => fields.act === 'promo-remove')
    ? / Promo code (\S+)/.exec(wordsOf(page.html))?.[1]
    : undefined;
  let usedUp: string | undefined;
  if (code !== undefined && box) {
    const applied = await visitor.press(box.action, { ...box.fields, promo: code });
    if (listForms(applied.html).some(({ fields }) => fields.act === 'promo-remove')) promo = code;
    else if (/code has been used up/.test(wordsOf(applied.html))) usedUp = code;
    page = applied.status === 200 ? applied : await visitor.open(path);
  }
  return { announcement: page.status === 200 ? readAnnouncement(page.html) : undefined, promo, usedUp, page };
}

/** Presses the button of a purchase, and enters a card if one is asked for. */
export async function confirm(hand: Hand, { form }: Announcement, number: string): Promise<Outcome> {
  const arrival = await hand.visitor.press(form.action, form.fields);
  if (!/\/addPayment/.test(arrival.at) || outcomeOf(arrival) !== 'done') return outcomeOf(arrival);
  const paid = await enterCard(hand, arrival.html, number);
  if (!paid) return 'refused';
  // The card's page again, without a word: nothing was bought.
  return /\/addPayment/.test(paid.at) && paid.status === 200 && outcomeOf(paid) === 'done'
    ? 'refused'
    : outcomeOf(paid);
}

interface ReadPage {
  text: string;
  amountCents: number | undefined;
}

/**
 * A page with one button: cancel, resume, pay. The text is what the member has read before.
 * @param onRead is told the page before the button is pressed: the answer may be lost
 */
export async function pressOnly(
  { visitor }: Hand,
  path: string,
  onRead?: (page: ReadPage) => void,
): Promise<ReadPage & { outcome: Outcome }> {
  const page = await visitor.open(path);
  const text = wordsOf(mainOf(page.html));
  const form = listForms(mainOf(page.html)).find(({ action, fields }) => action === path && fields.act === undefined);
  if (page.status >= 500) return { outcome: 'failed', text, amountCents: undefined };
  if (page.status !== 200 || !page.at.startsWith(path) || !form)
    return { outcome: 'refused', text, amountCents: undefined };
  const read = { text, amountCents: findMoney(text) };
  onRead?.(read);
  return { outcome: outcomeOf(await visitor.press(path, form.fields)), ...read };
}

/** Chooses how long the plan is paused. @returns the charge at its end, as the page announces it */
export async function pause(
  { visitor }: Hand,
  months: number,
): Promise<{ outcome: Outcome; resumption: NextCharge | undefined }> {
  const path = `${membershipPath}/pause`;
  const page = await visitor.open(path);
  const form = listForms(page.html).find(({ action }) => action === path);
  if (page.status >= 500) return { outcome: 'failed', resumption: undefined };
  if (page.status !== 200 || !page.at.startsWith(path) || !form) return { outcome: 'refused', resumption: undefined };
  const resumption = readResumptions(page.html).get(months);
  return { outcome: outcomeOf(await visitor.press(path, { ...form.fields, months: String(months) })), resumption };
}

export async function takeFree({ visitor }: Hand, planId: string): Promise<Outcome> {
  const page = await visitor.open(`/plan-purchase/${planId}`);
  const form = listForms(page.html).find(({ fields }) => fields.act === 'free');
  if (!form) return page.status >= 500 ? 'failed' : 'refused';
  return outcomeOf(await visitor.press(form.action, form.fields));
}

/** The page of a partner's deal. */
export async function confirmDeal({ visitor }: Hand, planId: string): Promise<Outcome> {
  const page = await visitor.open('/plan-purchase-appsumo/');
  const form = listForms(page.html).find(({ fields }) => fields.planId === planId && fields.act === undefined);
  if (!form) return page.status >= 500 ? 'failed' : 'refused';
  return outcomeOf(await visitor.press(form.action, form.fields));
}

/** The member answers the bank, and comes back to the page. */
export async function answerBank(
  { visitor, engine }: Hand,
  intentId: string,
  answer: 'succeed' | 'fail',
  path: string,
): Promise<Outcome> {
  engine.authenticate(intentId, answer);
  return outcomeOf(await visitor.press(path, { act: 'outcome' }));
}

export async function leave({ visitor }: Hand, when: 'period-end' | 'at-once'): Promise<Outcome> {
  const page = await visitor.open('/settings/delete-account');
  if (page.status !== 200) return 'refused';
  return outcomeOf(await visitor.press('/settings/delete-account', { confirm: '1', membership: when }));
}
