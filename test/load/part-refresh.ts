import { compared, type Figure, type Rounds } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort, Server } from './part-provider.ts';
import { type Child, startChild } from './rpc.ts';
import type { BareProvider } from './servers/bare-provider.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const members = 100;
const atOnce = 16;
/** Client apps that refresh, each with a token of its own. */
const tokens = 400;
const warmUpMs = 3_000;

/** Every app refreshes `times` times. */
async function round(generator: Child<Generator>, { port, usage }: Server, times: number) {
  const before = await usage();
  let ms = 0;
  for (let done = 0; done < times; done += 1) ms += await generator.refresh({ port });
  const count = tokens * times;
  return { perSecond: count / (ms / 1000), cpuMs: ((await usage()).cpuMs - before.cpuMs) / count };
}

/** Refresh tokens of a client with a secret, against the bare library, in alternating rounds. */
export async function measureRefresh(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const bareChild = startChild<BareProvider>('servers/bare-provider.ts');
  const foyerChild = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const sides: [Server, Rounds][] = [];
    for (const [side, child] of [
      ['bare', bareChild],
      ['foyer', foyerChild],
    ] as const) {
      const { port } = await child.start({ members });
      await generator.openSessions({ side, port, members, atOnce });
      await generator.authorize({ port, count: tokens });
      await generator.exchange({ port });
      sides.push([
        { side, port, usage: () => child.usage() },
        { perSecond: [], cpuMs: [] },
      ]);
    }
    let slowest = Number.POSITIVE_INFINITY;
    for (const [server] of sides) {
      const beganMs = performance.now();
      let perSecond = 0;
      while (performance.now() - beganMs < warmUpMs) ({ perSecond } = await round(generator, server, 1));
      slowest = Math.min(slowest, perSecond);
    }
    const times = Math.max(1, Math.round((seconds * slowest) / tokens));
    for (let pair = 0; pair < pairs; pair += 1) {
      for (const [server, rounds] of sides) {
        const { perSecond, cpuMs } = await round(generator, server, times);
        rounds.perSecond.push(perSecond);
        rounds.cpuMs.push(cpuMs);
      }
    }
    const [bare, foyer] = sides.map(([, rounds]) => rounds);
    return bare && foyer ? [compared(`Refresh, ${stores.name}`, bare, foyer)] : [];
  } finally {
    await Promise.all([generator.stop(), bareChild.stop(), foyerChild.stop()]);
  }
}
