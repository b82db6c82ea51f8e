import { base, buy, dayMs, type Mutation } from './mutation-tools.ts';

/** Overwrites a column of a membership whose plan is going to change. */
const overwritten = (when: string, column: string, value: string) => ({
  inDatabase: `CREATE TRIGGER overwritten AFTER UPDATE ON memberships WHEN ${when} BEGIN
    UPDATE memberships SET ${column} = ${value} WHERE user_id = NEW.user_id; END`,
});

const change = [buy('15'), buy('10')];
const isChanging = 'NEW.next_plan_id IS NOT NULL';

/** A page that announces a change of plan, and is wrong in one way. */
export const changeMutations: readonly Mutation[] = [
  {
    title: 'A change that names another plan',
    rule: 'O4',
    operations: change,
    fault: overwritten("NEW.next_plan_id = '10'", 'next_plan_id', "'14'"),
    says: /a change to Scale, monthly; Stripe charges Starter, monthly/,
  },
  {
    title: 'A change that names another day',
    rule: 'O4',
    operations: change,
    fault: overwritten(isChanging, 'period_end', `NEW.period_end + ${dayMs}`),
    says: /a change on /,
  },
  {
    title: 'A change that names another amount',
    rule: 'O4',
    operations: change,
    fault: overwritten(
      `${isChanging} AND NEW.next_charge IS NOT NULL`,
      'next_charge',
      "json_set(NEW.next_charge, '$.amountCents', 5)",
    ),
    says: /amount: on the page/,
  },
  {
    title: 'A partner’s plan that follows on another day',
    rule: 'O4',
    operations: [buy('10'), { ...base, kind: 'deal', tier: 1 }],
    fault: overwritten('NEW.cancel_at_period_end = 1', 'period_end', `NEW.period_end + ${dayMs}`),
    says: /a change on /,
  },
];
