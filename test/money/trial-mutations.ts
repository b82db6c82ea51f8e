import { cards } from './acts.ts';
import { act, afterPeriod, base, buy, dayMs, isChange, keeps, losses, type Mutation } from './mutation-tools.ts';
import type { Operation } from './operations.ts';

// Products that are wrong about the free days with which a plan begins.

/** Another end of a trial arrives than was sent. */
const trialEnds = (change: (end: number) => number | 'now'): Mutation['fault'] => ({
  onTheWay(request) {
    const end = Number(request.params?.trial_end);
    return isChange(request) && end > 0
      ? { ...request, params: { ...request.params, trial_end: change(end) } }
      : request;
  },
});

const byOther: Operation = { ...buy('14'), member: 1 };
const withBadCard: Operation = {
  ...base,
  kind: 'buy',
  planId: '14',
  code: undefined,
  card: cards.chargeDeclined,
  way: 'page',
};

export const trialMutations: readonly Mutation[] = [
  {
    title: 'A trial that ends a day before the announced one',
    rule: 'O14',
    operations: [buy('14')],
    fault: trialEnds((end) => end - 86_400),
  },
  {
    title: 'A trial that charges at once',
    rule: 'O2',
    operations: [buy('14')],
    fault: trialEnds(() => 'now'),
  },
  ...losses('14', 'O3', 'a trial'),
  {
    title: 'A plan that stays after its first charge has failed',
    rule: 'O6',
    operations: [withBadCard, afterPeriod(2 * dayMs)],
    fault: keeps('14'),
  },
  {
    title: 'A plan that is not given during its trial',
    rule: 'O6',
    operations: [buy('14')],
    fault: {
      inDatabase: `CREATE TRIGGER late AFTER UPDATE ON users WHEN NEW.plan_id = '14' BEGIN
      UPDATE users SET plan_id = NULL WHERE id = NEW.id; END`,
    },
  },
  {
    title: 'A second trial of a member who has canceled one',
    rule: 'O14',
    operations: [buy('14'), act('cancel'), afterPeriod(2 * dayMs), buy('11')],
    fault: {
      inDatabase: `CREATE TRIGGER forgets AFTER UPDATE ON memberships WHEN NEW.status = 'canceled' BEGIN
      UPDATE memberships SET tried_until = NULL, tried_plan_id = NULL WHERE user_id = NEW.user_id;
      DELETE FROM trial_claims; END`,
    },
  },
  {
    title: 'A second trial with the card of another member',
    rule: 'O14',
    operations: [buy('14'), byOther],
    fault: {
      inDatabase: `CREATE TRIGGER lends AFTER UPDATE ON memberships WHEN NEW.tried_until IS NOT NULL BEGIN
      DELETE FROM trial_claims WHERE kind = 'card'; END`,
    },
  },
  {
    title: 'A trial that is not offered to a member who never had one',
    rule: 'O14',
    operations: [buy('14')],
    fault: {
      inDatabase: `CREATE TRIGGER denied AFTER UPDATE ON memberships WHEN NEW.tried_until IS NULL BEGIN
      UPDATE memberships SET tried_until = 1 WHERE user_id = NEW.user_id; END`,
    },
  },
  {
    title: 'A trial that no mail announces',
    rule: 'O14',
    operations: [buy('14')],
    fault: {
      inDatabase: `CREATE TRIGGER silent BEFORE INSERT ON outbox WHEN NEW.template = 'plan-trial-began' BEGIN
      SELECT RAISE(IGNORE); END`,
    },
  },
  {
    title: 'A first charge that no mail announces',
    rule: 'O14',
    operations: [buy('14'), afterPeriod(-3 * dayMs)],
    fault: {
      inDatabase: `CREATE TRIGGER silent BEFORE INSERT ON outbox WHEN NEW.template = 'plan-trial-ends' BEGIN
      SELECT RAISE(IGNORE); END`,
    },
  },
  {
    title: 'The rest of a charge that is too small, left out of the announced one',
    rule: 'O4',
    operations: [buy('14', 'ALMOSTALL')],
    fault: {
      inDatabase: `CREATE TRIGGER rest AFTER UPDATE ON memberships
      WHEN json_extract(NEW.next_charge, '$.firstRegularCents') IS NOT NULL BEGIN
      UPDATE memberships SET next_charge = json_remove(next_charge, '$.firstRegularCents') WHERE user_id = NEW.user_id;
      END`,
    },
  },
];
