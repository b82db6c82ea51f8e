import type { Announcement, NextCharge, readKeptDays } from './read-pages.ts';

/** How a press of a button ended, as the page says. `unknown`: the connection broke. */
export type Outcome = 'done' | 'noted' | 'declined' | 'changed' | 'waits' | 'refused' | 'failed' | 'unknown';

/** Amounts by the words of a page: credit is kept or used, a debt is too small to be charged or owed from before. */
export type BalanceChange = Partial<Record<'kept' | 'used' | 'small' | 'owed', number>>;

/** A confirmation with what its page had announced. */
export interface Press {
  atMs: number;
  planId: string;
  dueCents: number;
  next: NextCharge | undefined;
  balance: BalanceChange;
  promo: string | undefined;
  /** As the page says; 1 where a plan has none. */
  seats: number;
  /** The day of the first charge of a plan that begins with free days. */
  trialDay: string | undefined;
  outcome: Outcome;
  /** The invoice that it has caused. */
  invoiceId?: string;
}

interface Entry {
  atMs: number;
  text: string;
}

/** Everything that one member was told and did, and what follows from it. */
/** A withdrawal from a purchase, with what its page has named. */
export interface Withdrawal {
  atMs: number;
  /** The last payment before it; undefined: there was none. */
  invoiceId: string | undefined;
  cents: number;
  isDone: boolean;
  kept: ReturnType<typeof readKeptDays>;
}

export interface Ledger {
  email: string;
  entries: Entry[];
  presses: Press[];
  /** Open amounts that were paid by a press of "Pay now". */
  payments: { atMs: number; cents: number }[];
  /** What the next charge may be: more than one after an act that has failed, until a page decides. */
  promises: NextCharge[];
  /** The next charge if the present plan goes on. */
  going: NextCharge;
  judged: Set<string>;
  /** Renewals with which a subscription has ended. */
  ended: Set<string>;
  /** A dispute may end the plan with its period. */
  mayEnd: boolean;
  /** The promises at the time at which each renewal began: it is charged an hour later. */
  drafts: Map<string, NextCharge[]>;
  /** What Stripe and the ledger had when the member was judged last. */
  judgedState: string;
  /** What the member has without payment: more than one after an act that has failed. */
  basePlans: (string | undefined)[];
  withdrawals: Withdrawal[];
  /** Owed to the seller, as pages have said: the next charge contains it. */
  owedCents: number;
  /** A request for deletion was not answered: the next sign-in takes it back, if it was stored. */
  mayHaveLeft: boolean;
  /** The time of the request for deletion. */
  leftAtMs: number | undefined;
  isErased: boolean;
  /** Customers at Stripe: a deleted one has no address any more. */
  customerIds: Set<string>;
  mailKeys: Set<string>;
  /** The promises when mails were read before: an act first does what was noted, and tells of it. */
  mailedPromises: NextCharge[];
  openedAtMs: number;
  /** The cards with which a trial may have begun. */
  trialCards: Set<string>;
  /** The trial of a paid plan, as Stripe has it. */
  trial: { planId: string; endsOn: string; card: string | undefined } | undefined;
  /** How what a page has offered was wrong. */
  offerFault: string | undefined;
  trialMails: { kind: 'began' | 'ends'; day: string | undefined }[];
  /** How the refusal of a promotion code was wrong. */
  codeFault: string | undefined;
}

export const nothing: NextCharge = { kind: 'none' };

export const createLedger = (email: string, nowMs: number): Ledger => ({
  email,
  entries: [],
  presses: [],
  payments: [],
  promises: [nothing],
  going: nothing,
  judged: new Set(),
  ended: new Set(),
  mayEnd: false,
  drafts: new Map(),
  judgedState: '',
  basePlans: [undefined],
  withdrawals: [],
  owedCents: 0,
  mayHaveLeft: false,
  leftAtMs: undefined,
  isErased: false,
  customerIds: new Set(),
  mailKeys: new Set(),
  mailedPromises: [],
  openedAtMs: nowMs,
  trialCards: new Set(),
  trial: undefined,
  offerFault: undefined,
  trialMails: [],
  codeFault: undefined,
});

export const shownNext = (next: NextCharge | undefined): string => {
  if (!next) return 'not said';
  if (next.kind === 'none') return 'no charge';
  const { day, cents, regular, creditCents, smallCents, afterCents } = next;
  const then = regular?.afterCents === undefined ? '' : ` once, then ${regular.afterCents}`;
  const later = regular ? `, ${regular.cents} from ${regular.from}${then}` : '';
  const small = smallCents ? `, ${smallCents} too small` : '';
  const credit = creditCents ? `, ${creditCents} by credit` : '';
  const after = afterCents === undefined ? '' : `, then ${afterCents}`;
  return `${cents ?? '?'} on ${day ?? '?'}${later}${credit}${small}${after}`;
};

export const shownAnnouncement = ({ planId, dueCents, lines, next }: Announcement): string =>
  `plan ${planId}, ${lines.map(({ label, cents }) => `${label} ${cents}`).join(', ')}, due ${dueCents}, next ${shownNext(next)}`;

/** The ledger's end as text, for a report. */
export const printLedger = ({ email, entries, promises }: Ledger, last = 14): string =>
  [
    `ledger of ${email}`,
    ...entries.slice(-last).map(({ atMs, text }) => `  ${new Date(atMs).toISOString().slice(0, 16)} ${text}`),
    `  promised: ${promises.map(shownNext).join(' or ')}`,
  ].join('\n');

/** The amount of the charge on a day; undefined: no page or mail has said it. */
export function promisedCents(next: NextCharge & { kind: 'charge' }, day: string): number | undefined {
  return next.regular && day >= next.regular.from ? next.regular.cents : next.cents;
}

export type Actual = { kind: 'charge'; cents: number; day: string } | { kind: 'none' };

/** Whether a charge, or none, is what was promised. */
export function keeps(promise: NextCharge, actual: Actual): boolean {
  if (promise.kind === 'none') return actual.kind === 'none';
  if (actual.kind === 'none') return promise.cents === 0;
  // A code pays the first charge after a trial; the one after it is named, too.
  if (promise.cents === 0 && promise.regular && actual.cents > 0)
    return promise.regular.from === actual.day && promise.regular.cents === actual.cents;
  if (promise.day !== undefined && promise.day !== actual.day) return false;
  const cents = promisedCents(promise, actual.day);
  return cents === undefined || cents === actual.cents;
}

/** How a charge differs from the promises: `amount: ` before it if nothing else differs. */
export function difference(promises: readonly NextCharge[], actual: Actual, verb: string): string {
  const sameDay = promises.some(
    (one) => one.kind === 'charge' && actual.kind === 'charge' && keeps({ kind: 'charge', day: one.day }, actual),
  );
  const announced = promises.map(shownNext).join(' or ');
  return `${sameDay ? 'amount: ' : ''}${verb} ${shownNext(actual)}; announced was ${announced}`;
}

/**
 * What is known of the charge after this one: a credit that has paid a part of it may be gone, and what was too small is
 * added to it.
 * @param owedCents the debt that was in this one
 */
export function following(promise: NextCharge, { day, owedCents }: { day: string; owedCents: number }): NextCharge {
  if (promise.kind === 'none') return promise;
  const { cents, regular, creditCents, smallCents, afterCents, each } = promise;
  const after = creditCents || smallCents || cents === undefined ? undefined : cents - owedCents;
  // The discount has ended: this charge was the first without it.
  if (regular && day >= regular.from) return { kind: 'charge', cents: regular.afterCents ?? regular.cents };
  if (each === undefined) return { kind: 'charge', cents: afterCents ?? after, regular };
  const total = each.cents + (smallCents ?? 0);
  const isSmall = total < each.least;
  const amounts = isSmall ? { cents: 0, smallCents: total } : { cents: total };
  return { kind: 'charge', ...amounts, each, regular };
}

const balanceLabels: [keyof BalanceChange, RegExp][] = [
  ['kept', /kept as your credit|becomes your credit/i],
  ['small', /too small/i],
  ['used', /^your credit/i],
  ['owed', /owed/i],
];

/** What the member is told about their balance. */
export function readBalance(lines: Announcement['lines']): BalanceChange {
  const change: BalanceChange = {};
  for (const { label, cents } of lines) {
    const [kind] = balanceLabels.find(([, pattern]) => pattern.test(label)) ?? [];
    if (kind && cents !== 0) change[kind] = (change[kind] ?? 0) + Math.abs(cents);
  }
  return change;
}

/**
 * What has happened to a balance: Stripe's is credit below 0, and a debt above it. An invoice takes up the whole debt, and
 * leaves another one if it is too small itself.
 */
export function changeOfBalance(before: number, after: number): BalanceChange {
  const credit = Math.min(0, before) - Math.min(0, after);
  return {
    ...(credit > 0 && { kept: credit }),
    ...(credit < 0 && { used: -credit }),
    ...(after > 0 && { small: after }),
    ...(before > 0 && { owed: before }),
  };
}

export const shownBalance = (change: BalanceChange): string =>
  balanceLabels.flatMap(([kind]) => (change[kind] === undefined ? [] : `${kind} ${change[kind]}`)).join(', ') ||
  'nothing';
