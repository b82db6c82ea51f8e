import { printLedger } from './ledger.ts';
import type { Member } from './world.ts';

/** The rules about money; each holds after every act, or after quiet time. */
export const rules = {
  O1: 'each successful charge has one paid invoice and one order, of the same amount, currency and customer',
  O2: 'each charge that an act caused is the amount announced for that act, once',
  O3: 'each renewal is the last next charge that was announced before it, in amount and day',
  O4: 'after an act that said "done", the announced next charge is what Stripe does',
  O5: 'after an act that failed and was not repeated, the next charge is that of before or the wanted one',
  O6: 'the plan is that of the last paid invoice while its period lasts, or the base plan',
  O7: 'paid periods of one member do not overlap, except for what an upgrade gives back',
  O8: 'refunds and disputes at Stripe are those of the orders and of the page',
  O9: 'a member has one customer and at most one live subscription',
  O10: 'the redemptions of a code are the paid purchases that used it, and their orders show it',
  O11: 'each change of a balance was shown to the member',
  O12: 'the price on the page and in the receipt is the price at Stripe',
  O13: '"foyer billing diff" reports a difference if O1, O6, O8 or O9 is broken, none otherwise, and none after a repair',
  O14: 'a trial of a paid plan is offered to those who may have it, begins once for a member and a card until the announced day, and has its mails',
} as const;
export type Rule = keyof typeof rules;

export interface Finding {
  rule: Rule;
  email: string;
  detail: string;
  ledger: string;
}

export interface Findings {
  all: Finding[];
  report(rule: Rule, member: Member, detail: string): void;
  /** Nothing more is judged for a member with a finding: one fault leads to many. */
  isBroken(member: Member): boolean;
}

export function createFindings(): Findings {
  const all: Finding[] = [];
  return {
    all,
    report(rule, { email, ledger }, detail) {
      all.push({ rule, email, detail, ledger: printLedger(ledger) });
    },
    isBroken: ({ email }) => all.some((one) => one.email === email),
  };
}

export const printFinding = ({ rule, detail, ledger }: Finding): string =>
  `${rule} (${rules[rule]}):\n  ${detail}\n${ledger}`;
