import { rateLimitsOf, standInForStripe } from '../config-of-rooms.ts';
import { createLog } from '../http/index.ts';
import {
  createWebhooks,
  type Difference,
  diffWithStripe,
  type MembershipDeps,
  membershipDeps,
  type Reconciled,
  reconcileWithStripe,
} from '../membership/index.ts';
import { createOutbox } from '../messages/index.ts';
import { noMetrics } from '../metrics/index.ts';
import { createStandInClock } from '../sandbox/index.ts';
import { deriveKey } from '../store/index.ts';
import type { Context } from './context.ts';
import type { Result } from './io.ts';
import { asked, stripeOf } from './plans.ts';
import { counted, table } from './text.ts';

/** Stripe's time is the machine's, but for the sandbox's stand-in: by any other, who has a plan would be another question. */
async function billingTimeOf({ config, now }: Context): Promise<() => number> {
  const standIn = standInForStripe(config);
  if (!standIn) return now;
  const clock = createStandInClock(standIn, now);
  await clock.refresh();
  return clock.now;
}

/** The rules of the membership on the stores of a Foyer that may be running: what is mailed goes by its outbox. */
async function rulesOf(context: Context): Promise<{ deps: MembershipDeps; mode: string }> {
  const { config, database, kv, boxes, catalogue, now } = context;
  const { client, mode } = stripeOf(context);
  const billingNow = await billingTimeOf(context);
  const log = createLog('silent');
  const deps = membershipDeps({
    ...{ publicUrl: config.PUBLIC_URL, database, kv, now: billingNow, catalogue: catalogue(), stripe: client },
    outbox: createOutbox({ box: boxes.outbox, now }),
    log,
    limits: rateLimitsOf(config, { log, metrics: noMetrics }),
    trialKey: deriveKey(config.SECRET_KEYS[0] ?? '', 'trials', 32),
  });
  return { deps, mode };
}

const toJson = ({ kind, userId, customerId, detail }: Difference) => ({
  what: kind,
  user: userId,
  customer: customerId,
  detail,
});

const rowsOf = (differences: readonly Difference[], outcome: string) =>
  differences.map(({ kind, userId, customerId, detail }) => [outcome, kind, userId ?? '', customerId ?? '', detail]);

/** @returns what was found, and how many differences are left */
function resultOf({ compared, repaired, left }: Reconciled, mode: string): { left: number; result: Result } {
  const rows = [...rowsOf(left, 'differs'), ...rowsOf(repaired, 'mended')];
  const sum = `${counted(compared, 'membership')} compared with Stripe (${mode}): ${left.length} differing, ${repaired.length} mended.`;
  const headings = ['', 'what', 'member', 'customer', 'detail'];
  return {
    left: left.length,
    result: {
      json: { ok: left.length === 0, compared, differences: left.map(toJson), repaired: repaired.map(toJson) },
      text: rows.length > 0 ? `${table(headings, rows)}\n\n${sum}` : sum,
    },
  };
}

/** @throws {CliError} when Stripe does not answer */
export async function diffBilling(context: Context): Promise<{ left: number; result: Result }> {
  const { deps, mode } = await rulesOf(context);
  return resultOf(await asked(diffWithStripe(deps)), mode);
}

/** @throws {CliError} when Stripe does not answer */
export async function reconcileBilling(context: Context): Promise<{ left: number; result: Result }> {
  const { deps, mode } = await rulesOf(context);
  return resultOf(await asked(reconcileWithStripe(deps, createWebhooks(deps))), mode);
}
