import { findPlan } from './catalogue.ts';
import type { Outcome } from './ledger.ts';
import type { Announcement } from './read-pages.ts';
import type { Visitor } from './visitor.ts';

/** From the most to the least that has happened. */
const order: Outcome[] = ['done', 'waits', 'noted', 'unknown', 'failed', 'declined', 'changed', 'refused'];

/** What has happened by acts at the same time. */
export const best = (outcomes: readonly Outcome[]): Outcome => order.find((one) => outcomes.includes(one)) ?? 'refused';

const amountNames = ['body.amount', 'body.amount_owed', 'body.usedCredits', 'body.next_amount'];

/** The refusal of a call that names its fields. */
interface Problem {
  errors?: { name: string }[];
  client_secret?: string;
}

function outcomeOfCall(status: number, { errors, client_secret }: Problem): Outcome {
  if (status === 200) return 'done';
  if (status === 402) return client_secret === undefined ? 'declined' : 'waits';
  if (status >= 500) return 'failed';
  return status === 409 && errors?.some(({ name }) => amountNames.includes(name)) ? 'changed' : 'refused';
}

/** Buys by the JSON API, with the card that is saved, what a page has announced. */
export async function confirmByApi(
  visitor: Visitor,
  path: string,
  {
    announcement: { planId, dueCents, lines, seats, trialDays, next },
    promo,
  }: { announcement: Announcement; promo: string | undefined },
): Promise<Outcome> {
  // As the page names them.
  const read = (label: RegExp) => (Math.abs(lines.find((line) => label.test(line.label))?.cents ?? 0) / 100).toFixed(2);
  // A call buys without free days: its next charge is another than that of the page.
  const told = trialDays === undefined && next?.kind === 'charge' ? next.cents : undefined;
  const { status, body } = await visitor.callApi(path, {
    plan_name: findPlan(planId)?.code,
    ...(findPlan(planId)?.hasSeats && { seats }),
    amount: (dueCents / 100).toFixed(2),
    amount_owed: read(/too small/i),
    usedCredits: read(/^your credit/i),
    ...(told !== undefined && { next_amount: (told / 100).toFixed(2) }),
    begins_at_once: true,
    ...(promo !== undefined && { discountCoupon: promo }),
  });
  return outcomeOfCall(status, body as Problem);
}
