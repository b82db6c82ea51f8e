import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, median, workPer } from './figures.ts';
import type { PurchasesGenerator } from './generator/purchases.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const atOnce = 4;
/** Purchases of one round, for each second of it. */
const perSecond = 10;
const limitless = { CARD_LIMIT_ADDRESS: '1000000', CARD_LIMIT_OVERALL: '100000000' };

/** Of each round, for one purchase. */
interface Samples {
  cpuMs: number[];
  /** Requests to Stripe. */
  asked: number[];
}

function keep({ cpuMs, asked }: Samples, round: { cpuMs: number; asked: number }, purchases: number): void {
  cpuMs.push(round.cpuMs / purchases);
  asked.push(round.asked / purchases);
}

/**
 * The processor time of the server for one purchase with a new card: the pages of the plan and of the payment, the
 * card and the payment; then that of Stripe's events about it. The stand-in for Stripe and the browsers are another
 * process.
 */
export async function measurePurchases(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-bench-stripe-'));
  const generator = startChild<PurchasesGenerator>('generator/purchases.ts');
  const given = await generator.open({ folder });
  const foyer = startChild<FoyerServer>('servers/foyer.ts', { ...stores.environment, ...limitless, ...given });
  try {
    const count = Math.ceil(perSecond * seconds);
    const members = count * (pairs + 1);
    const { port } = await foyer.start({ members });
    await foyer.sellPlans();
    await generator.signIn({ port, count: members, atOnce });
    const purchase: Samples = { cpuMs: [], asked: [] };
    const events: Samples = { cpuMs: [], asked: [] };
    const [rates, told]: [number[], number[]] = [[], []];
    for (let round = 0; round <= pairs; round += 1) {
      const before = (await foyer.usage()).cpuMs;
      const bought = await generator.buy({ count, atOnce });
      const between = (await foyer.usage()).cpuMs;
      const delivered = await generator.deliverEvents();
      const after = (await foyer.usage()).cpuMs;
      // The first round warms up.
      if (round === 0) continue;
      keep(purchase, { cpuMs: between - before, asked: bought.requests }, count);
      keep(events, { cpuMs: after - between, asked: delivered.requests }, count);
      rates.push(count / (bought.ms / 1000));
      told.push(delivered.events / count);
    }
    const load = `${pairs} × ${count} at ${atOnce} at once; load ${loadavg()[0]?.toFixed(1)}`;
    const asked = (samples: Samples) => `${median(samples.asked).toFixed(1)} requests to Stripe`;
    return [
      workPer(
        'A purchase with a new card',
        purchase.cpuMs,
        `${asked(purchase)}, ${median(rates).toFixed(0)}/s; ${load}`,
      ),
      workPer('What Stripe tells about it', events.cpuMs, `${median(told).toFixed(0)} events, ${asked(events)}`),
    ];
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}
