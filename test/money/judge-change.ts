import { findPlan } from './catalogue.ts';
import { isCalm, type Settled } from './judge-settled.ts';
import { isLive } from './stripe-books.ts';

const intervals = { month: 'monthly', year: 'annual' } as const;

/** O4, the plan that takes the place of this one: each place of the page names that of Stripe's next charge, and its day. */
export function judgeChange(the: Settled): void {
  const { account, member, findings, forecast, page } = the;
  if (!isCalm(the, account.subscriptions.find(isLive))) return;
  const report = (detail: string) => findings.report('O4', member, `a change ${detail}`);
  for (const { day, to, from } of page.changes) {
    if (from !== undefined && from !== page.plan) report(`from ${from}, the plan is ${page.plan}`);
    if (forecast.kind === 'none') {
      if (forecast.endsOn !== null && forecast.endsOn !== day) report(`on ${day}; the plan ends on ${forecast.endsOn}`);
      continue;
    }
    const next = findPlan(forecast.planId);
    const name = next && `${next.name}, ${intervals[next.interval]}`;
    if (forecast.day !== day) report(`on ${day}; Stripe charges on ${forecast.day}`);
    if (name === undefined || !to.startsWith(name)) report(`to ${to}; Stripe charges ${name}`);
  }
}
