import { cards } from './acts.ts';
import {
  act,
  afterPeriod,
  base,
  buy,
  type Call,
  dayMs,
  inDatabase,
  type Mutation,
  onTheWay,
  without,
} from './mutation-tools.ts';
import type { Operation } from './operations.ts';

// Products that are wrong about the free days with which a plan begins.

const isChange = ({ method, path }: Call) => method === 'POST' && /^\/v1\/subscriptions\/\w+$/.test(path);

/** The end of a trial, moved by so many seconds. */
const withTrialEnd = (move: number) => (request: Call) => {
  const end = Number(request.params?.trial_end);
  return isChange(request) && end > 0 ? { ...request, params: { ...request.params, trial_end: end + move } } : request;
};

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
    change: onTheWay(withTrialEnd(-86_400)),
  },
  {
    title: 'A trial that charges at once',
    rule: 'O2',
    operations: [buy('14')],
    change: onTheWay((request) =>
      isChange(request) && Number(request.params?.trial_end) > 0
        ? { ...request, params: { ...request.params, trial_end: 'now' } }
        : request,
    ),
  },
  {
    title: 'A trial that is canceled and charged',
    rule: 'O4',
    operations: [buy('14'), act('cancel')],
    change: onTheWay(without('cancel_at_period_end')),
  },
  {
    title: 'A discount of the first charge that does not reach Stripe',
    rule: 'O3',
    operations: [buy('14', 'HALF')],
    change: onTheWay(without('discounts')),
  },
  {
    title: 'A plan that stays after its first charge has failed',
    rule: 'O6',
    operations: [withBadCard, afterPeriod(2 * dayMs)],
    change: inDatabase(`CREATE TRIGGER kept AFTER UPDATE ON users WHEN NEW.plan_id IS NULL AND OLD.plan_id = '14' BEGIN
      UPDATE users SET plan_id = '14' WHERE id = NEW.id; END`),
  },
  {
    title: 'A plan that is not given during its trial',
    rule: 'O6',
    operations: [buy('14')],
    change: inDatabase(`CREATE TRIGGER late AFTER UPDATE ON users WHEN NEW.plan_id = '14' BEGIN
      UPDATE users SET plan_id = NULL WHERE id = NEW.id; END`),
  },
  {
    title: 'A second trial of a member who has canceled one',
    rule: 'O14',
    operations: [buy('14'), act('cancel'), afterPeriod(2 * dayMs), buy('11')],
    change: inDatabase(`CREATE TRIGGER forgets AFTER UPDATE ON memberships WHEN NEW.status = 'canceled' BEGIN
      UPDATE memberships SET tried_until = NULL, tried_plan_id = NULL WHERE user_id = NEW.user_id;
      DELETE FROM trial_claims; END`),
  },
  {
    title: 'A second trial with the card of another member',
    rule: 'O14',
    operations: [buy('14'), byOther],
    change: inDatabase(`CREATE TRIGGER lends AFTER UPDATE ON memberships WHEN NEW.tried_until IS NOT NULL BEGIN
      DELETE FROM trial_claims WHERE kind = 'card'; END`),
  },
  {
    title: 'A trial that is not offered to a member who never had one',
    rule: 'O14',
    operations: [buy('14')],
    change: inDatabase(`CREATE TRIGGER denied AFTER UPDATE ON memberships WHEN NEW.tried_until IS NULL BEGIN
      UPDATE memberships SET tried_until = 1 WHERE user_id = NEW.user_id; END`),
  },
  {
    title: 'A trial that no mail announces',
    rule: 'O14',
    operations: [buy('14')],
    change: inDatabase(`CREATE TRIGGER silent BEFORE INSERT ON outbox WHEN NEW.template = 'plan-trial-began' BEGIN
      SELECT RAISE(IGNORE); END`),
  },
  {
    title: 'A first charge that no mail announces',
    rule: 'O14',
    operations: [buy('14'), afterPeriod(-3 * dayMs)],
    change: inDatabase(`CREATE TRIGGER silent BEFORE INSERT ON outbox WHEN NEW.template = 'plan-trial-ends' BEGIN
      SELECT RAISE(IGNORE); END`),
  },
];
