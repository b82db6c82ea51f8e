import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cards } from './acts.ts';
import type { Rule } from './findings.ts';
import type { Operation } from './operations.ts';
import type { World } from './world.ts';

// What the mutations of the product are made of.

export const base = { member: 0, fault: undefined, returns: false } as const;
export const dayMs = 24 * 60 * 60_000;
export const buy = (planId: string, code?: string, seats?: number): Operation => ({
  ...base,
  kind: 'buy',
  planId,
  code,
  card: cards.good,
  way: 'page',
  seats,
});
export const act = (kind: 'cancel' | 'resume' | 'pay' | 'free' | 'withdraw'): Operation => ({ ...base, kind });
export const afterPeriod = (afterMs: number): Operation => ({ ...base, kind: 'period', afterMs });

export type Call = Parameters<World['shop']['stripe']['engine']['call']>[0];

/** How a product is made wrong. */
type Fault =
  /** Statements that run in its database beside its own writes, so that it stores something else than it was told. */
  | { inDatabase: string }
  /** Requests come to Stripe in another form than it has sent them. */
  | { onTheWay: (call: Call) => Call }
  /** A parameter of its changes of subscriptions is lost on the way. */
  | { lost: string }
  /** A parameter of its changes of subscriptions comes to Stripe in a request of its own before the others. */
  | { before: string };

/** The plan stays when the product takes it away. */
export const keeps = (planId: string): Fault => ({
  inDatabase: `CREATE TRIGGER kept AFTER UPDATE ON users WHEN NEW.plan_id IS NULL AND OLD.plan_id = '${planId}' BEGIN
    UPDATE users SET plan_id = '${planId}' WHERE id = NEW.id; END`,
});

export interface Mutation {
  title: string;
  rule: Rule;
  operations: Operation[];
  fault: Fault;
  /** What the finding says, where several rules see the mistake. */
  says?: RegExp;
}

/**
 * What a plan is bought and canceled with, lost on the way.
 * @param noDiscount the rule that is broken without the discount
 * @param of how titles name the plan
 */
export const losses = (planId: string, noDiscount: Rule, of: string): readonly Mutation[] => [
  {
    title: `A discount of ${of} that is announced and does not reach Stripe`,
    rule: noDiscount,
    operations: [buy(planId, 'HALF')],
    fault: { lost: 'discounts' },
  },
  {
    title: `A cancellation of ${of} that does not reach Stripe`,
    rule: 'O4',
    operations: [buy(planId), act('cancel')],
    fault: { lost: 'cancel_at_period_end' },
  },
];

export const isChange = ({ method, path }: Call) => method === 'POST' && /^\/v1\/subscriptions\/\w+$/.test(path);

export const without = (name: string) => (request: Call) => {
  const { [name]: _, ...params } = request.params ?? {};
  return isChange(request) ? { ...request, params } : request;
};

/** Makes the product of a world wrong. */
export function spoil(world: World, fault: Fault): void {
  if ('inDatabase' in fault) {
    const database = new DatabaseSync(join(world.variables.DATA_DIR ?? '', 'foyer.db'), { timeout: 10_000 });
    database.exec(fault.inDatabase);
    database.close();
    return;
  }
  const { engine } = world.shop.stripe;
  const call = engine.call.bind(engine);
  if ('before' in fault) {
    engine.call = (request) => {
      const { [fault.before]: first, items } = request.params ?? {};
      if (!isChange(request) || first === undefined || items === undefined) return call(request);
      call({ ...request, params: { [fault.before]: first } });
      return call(without(fault.before)(request));
    };
    return;
  }
  const change = 'lost' in fault ? without(fault.lost) : fault.onTheWay;
  engine.call = (request) => call(change(request));
}
