import { partnerPlans } from './catalogue.ts';
import {
  date,
  findDay,
  findMoney,
  listFacts,
  mainOf,
  money,
  type NextCharge,
  readRest,
  toCents,
  toDay,
  wordsOf,
} from './read-pages.ts';

/** The page of the membership as a member reads it. */

export interface InvoiceRow {
  number: string | undefined;
  /** What it is for, with its notes. */
  text: string;
  paidCents: number | undefined;
  refundedCents: number;
  disputed: boolean;
  state: string;
}

export interface MembershipPage {
  /** `Starter, monthly`. */
  plan: string | undefined;
  price: string | undefined;
  priceCents: number | undefined;
  discount: string | undefined;
  /** What happens to the plan, and when; undefined: nothing is said. */
  next: NextCharge | undefined;
  /** The word for it: `Renews on`; `Changes`: another plan takes the place of this one. */
  label: string | undefined;
  /** The plan that takes the place of this one, each time that the page names it. */
  changes: PlanChange[];
  rows: InvoiceRow[];
  text: string;
  isStripeAway: boolean;
}

function readRows(html: string): InvoiceRow[] {
  return [...html.matchAll(/<tr role="row">(.*?)<\/tr>/gs)].flatMap(([, row = '']) => {
    const cells = [...row.matchAll(/<td[^>]*data-label="([^"]*)"[^>]*>(.*?)<\/td>/gs)];
    if (cells.length === 0) return [];
    const cell = Object.fromEntries(cells.map(([, label = '', content = '']) => [label, wordsOf(content)]));
    const text = Object.values(cell).join(' | ');
    const refunded = new RegExp(`(${money}) refunded`).exec(text)?.[1];
    return [
      {
        number: /· (\S+-\d+)/.exec(cell.Date ?? '')?.[1],
        text,
        paidCents: findMoney(cell.Amount),
        refundedCents: refunded === undefined ? 0 : toCents(refunded),
        disputed: /Disputed/.test(text),
        state: cell.Status ?? '',
      },
    ];
  });
}

export interface PlanChange {
  day: string;
  /** `Starter, monthly`. */
  to: string;
  /** The plan until then; undefined: it is not named there. */
  from?: string | undefined;
}

/** A change of plan in the notices, and in its row if there is one. */
function readChanges(text: string, row: string | undefined): PlanChange[] {
  const notice = new RegExp(`Until (${date}) you have ([^.]+)\\. After that you have ([^.]+)\\.`).exec(text);
  const noted = new RegExp(`From (${date}) you have ([^.]+)\\.`).exec(text);
  const listed = new RegExp(`On (${date}) to (.+)`).exec(row ?? '');
  const [, day, from, to] = notice ?? [];
  const others = [noted, listed].flatMap((found) =>
    found?.[1] && found[2] ? [{ day: toDay(found[1]), to: found[2] }] : [],
  );
  return [...(day && to ? [{ day: toDay(day), from, to }] : []), ...others];
}

const isOfPartner = (line: string) => partnerPlans.some(({ name }) => line === name);

export function readMembershipPage(html: string): MembershipPage {
  const main = mainOf(html);
  const facts = listFacts(/<section[^>]*id="plan".*?<\/section>/s.exec(main)?.[0] ?? main);
  const fact = (label: RegExp) => facts.find((one) => label.test(one.label));
  const [plan, price, discount] = [fact(/^Plan$/), fact(/^Price$/), fact(/^Discount$/)];
  const payment = fact(/^Next payment$/);
  const dated = fact(/^(Renews on|Resumes on|Ends on|Active until)$/);
  const text = wordsOf(main);
  const changes = dated ? [] : readChanges(text, fact(/^Changes$/)?.value);
  const [change] = changes;
  // In a trial nothing renews.
  const row = dated ?? payment;
  return {
    plan: plan?.value,
    price: price?.value,
    priceCents: findMoney(price?.value),
    discount: discount?.value,
    label: change ? 'Changes' : row?.label,
    changes,
    next: change ? toChangeNext(change, payment?.value) : row && toNext(row),
    rows: readRows(main),
    text,
    isStripeAway: /payment provider, isn’t answering/.test(text),
  };
}

/** The first charge of the plan that follows; a partner's costs nothing. */
function toChangeNext({ day, to }: PlanChange, payment: string | undefined): NextCharge {
  if (isOfPartner(to)) return { kind: 'none' };
  const [planName] = to.split(',');
  if (payment === undefined) return { kind: 'charge', day, planName };
  return { kind: 'charge', day: findDay(payment), cents: findMoney(payment), ...readRest(payment), planName };
}

function toNext({ label, value }: { label: string; value: string }): NextCharge | undefined {
  if (label === 'Ends on') return { kind: 'none' };
  if (label === 'Active until') return undefined;
  return { kind: 'charge', day: findDay(value), cents: findMoney(value), ...readRest(value) };
}
