import { type Figure, median, quantile } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const atOnce = 16;
const times = 10;

/** Pages that are served when visitors send as many requests as the process can answer, and ten times as many. */
export async function measureOverload(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const { port } = await foyer.start({ members: 1 });
    const ms = seconds * 1000;
    await generator.pages({ port, ms: 1_000, atOnce });
    const [capacities, once, ten]: [number[], number[], number[]] = [[], [], []];
    const waitedMs: number[] = [];
    let [sent, refused] = [0, 0];
    for (let round = 0; round < pairs; round += 1) {
      const capacity = await generator.pages({ port, ms, atOnce });
      capacities.push(capacity);
      once.push((await generator.arrivals({ port, ms, perSecond: capacity })).servedPerSecond / capacity);
      const flood = await generator.arrivals({ port, ms, perSecond: times * capacity });
      ten.push(flood.servedPerSecond / capacity);
      for (const one of flood.refusedMs) waitedMs.push(one);
      sent += flood.sent;
      refused += flood.refused;
    }
    const of = `capacity ${median(capacities).toFixed(0)}/s with ${atOnce} at once`;
    return [
      { what: 'Pages served at 1 × capacity', value: median(once), unit: 'ratio', detail: of },
      {
        what: `Pages served at ${times} × capacity`,
        value: median(ten),
        unit: 'ratio',
        aim: { atLeast: 0.8 },
        detail: `${sent} sent, ${refused} refused`,
      },
      {
        what: 'Refusals, p99',
        value: waitedMs.length > 0 ? quantile(waitedMs, 0.99) : 0,
        unit: 'ms',
        aim: { below: 100 },
        detail: waitedMs.length > 0 ? `median ${quantile(waitedMs, 0.5).toFixed(1)} ms` : 'none was refused',
      },
    ];
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
  }
}
