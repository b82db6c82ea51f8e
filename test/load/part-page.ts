import { compared, type Figure, type Rounds } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { BarePage } from './servers/bare-page.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Usage } from './setting.ts';
import type { Stores } from './stores.ts';

const atOnce = 16;

/** The sign-in page against a bare Express route that renders the same React tree. */
export async function measurePage(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const bareChild = startChild<BarePage>('servers/bare-page.ts');
  const foyerChild = startChild<FoyerServer>('servers/foyer.ts', stores.environment);
  try {
    const bare = { ...(await bareChild.start()), usage: () => bareChild.usage() };
    const foyer = { ...(await foyerChild.start({ members: 1 })), usage: () => foyerChild.usage() };
    const one = async ({ port, usage }: { port: number; usage(): Promise<Usage> }, rounds: Rounds, ms: number) => {
      const before = await usage();
      const perSecond = await generator.pages({ port, ms, atOnce });
      const cpuMs = (await usage()).cpuMs - before.cpuMs;
      rounds.perSecond.push(perSecond);
      rounds.cpuMs.push(cpuMs / (perSecond * (ms / 1000)));
    };
    const warmUp: Rounds = { perSecond: [], cpuMs: [] };
    for (const server of [bare, foyer]) await one(server, warmUp, 1_500);
    const ofBare: Rounds = { perSecond: [], cpuMs: [] };
    const ofFoyer: Rounds = { perSecond: [], cpuMs: [] };
    for (let pair = 0; pair < pairs; pair += 1) {
      await one(bare, ofBare, seconds * 1000);
      await one(foyer, ofFoyer, seconds * 1000);
    }
    return [compared('Sign-in page against bare Express', ofBare, ofFoyer, 0.6)];
  } finally {
    await Promise.all([generator.stop(), bareChild.stop(), foyerChild.stop()]);
  }
}
