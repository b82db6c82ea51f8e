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
/** Statements that run in the product's database beside its own writes, so that it stores something else than it was told. */
export const inDatabase = (sql: string) => (world: World) => {
  const database = new DatabaseSync(join(world.variables.DATA_DIR ?? '', 'foyer.db'), { timeout: 10_000 });
  database.exec(sql);
  database.close();
};

export type Call = Parameters<World['shop']['stripe']['engine']['call']>[0];

/** Requests that come to Stripe in another form than the product has sent them. */
export const onTheWay = (change: (call: Call) => Call) => (world: World) => {
  const { engine } = world.shop.stripe;
  const call = engine.call.bind(engine);
  engine.call = (request) => call(change(request));
};

export const without = (name: string) => (request: Call) => {
  const { [name]: _, ...params } = request.params ?? {};
  return request.method === 'POST' && /^\/v1\/subscriptions\/\w+$/.test(request.path)
    ? { ...request, params }
    : request;
};

export interface Mutation {
  title: string;
  rule: Rule;
  operations: Operation[];
  change: (world: World) => void;
}
