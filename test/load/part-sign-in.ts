import { availableParallelism } from 'node:os';
import { compared, type Figure, quantile, type Rounds } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { RawArgon2 } from './servers/raw-argon2.ts';
import type { Stores } from './stores.ts';

const members = 50;
/** Enough callers that the queue of hashes is never empty. */
const atOnce = 4 * availableParallelism();
const visitsPerSecond = 50;
const visitingMs = 20_000;

/**
 * Compares sign-ins with the raw rate of argon2id, and measures how long other visitors wait during full load by
 * sign-ins.
 */
export async function measureSignIns(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const visitors = startChild<Generator>('generator/main.ts');
  const raw = startChild<RawArgon2>('servers/raw-argon2.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members });
    await generator.openSessions({ side: 'foyer', port, members, atOnce });
    await raw.measure({ ms: 500 });
    const ms = seconds * 1000;
    const ofRaw: Rounds = { perSecond: [], cpuMs: [] };
    const ofFoyer: Rounds = { perSecond: [], cpuMs: [] };
    for (let pair = 0; pair < pairs; pair += 1) {
      ofRaw.perSecond.push(await raw.measure({ ms }));
      ofFoyer.perSecond.push(await generator.signIns({ port, ms, atOnce }));
    }
    const [, times] = await Promise.all([
      generator.signIns({ port, ms: visitingMs + 1_000, atOnce }),
      visitors.waiting({ port, ms: visitingMs, perSecond: visitsPerSecond }),
    ]);
    const cores = availableParallelism();
    return [
      compared('Password sign-ins against raw argon2id', ofRaw, ofFoyer, 0.9),
      {
        what: 'GET / while sign-ins saturate, p99',
        value: quantile(times, 0.99),
        unit: 'ms',
        aim: { below: 20 },
        detail: `median ${quantile(times, 0.5).toFixed(1)} ms, ${times.length} visits; ${cores} cores, shared with two generators`,
      },
    ];
  } finally {
    await Promise.all([generator.stop(), visitors.stop(), raw.stop(), foyer.stop()]);
  }
}
