import { compared, type Figure, type Rounds } from './figures.ts';
import type { StepsGenerator } from './generator/steps.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { BareLookUp } from './servers/bare-look-up.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Usage } from './setting.ts';
import type { Stores } from './stores.ts';

const members = 100;
const atOnce = 16;
const scope = 'users:read';
const limitless = { API_LIMIT_CALLER: '1000000', API_LIMIT_CALLS: 'listUserWithPoolId=999999' };

/** A service reads user records, one at a time, against a bare Express route that reads one row without any check. */
export async function measureLookUps(stores: Stores, { pairs, seconds }: Effort): Promise<Figure[]> {
  const generator = startChild<StepsGenerator>('generator/steps.ts');
  const bareChild = startChild<BareLookUp>('servers/bare-look-up.ts');
  const foyerChild = startChild<FoyerServer>('servers/foyer.ts', { ...stores.environment, ...limitless });
  try {
    const foyer = { ...(await foyerChild.start({ members })), usage: () => foyerChild.usage() };
    const ids = await foyerChild.addRecords({ count: members });
    const bare = { ...(await bareChild.start({ ids })), usage: () => bareChild.usage() };
    await foyerChild.addServices({ ids: ['look-ups'], scope });
    await generator.open({ port: foyer.port, atOnce });
    const token = await generator.tokenOf({ id: 'look-ups', scope });
    const one = async ({ port, usage }: { port: number; usage(): Promise<Usage> }, rounds: Rounds, ms: number) => {
      const before = await usage();
      const perSecond = await generator.lookUps({ port, ms, atOnce, ids, token });
      rounds.perSecond.push(perSecond);
      rounds.cpuMs.push(((await usage()).cpuMs - before.cpuMs) / (perSecond * (ms / 1000)));
    };
    for (const server of [bare, foyer]) await one(server, { perSecond: [], cpuMs: [] }, 2_000);
    const ofBare: Rounds = { perSecond: [], cpuMs: [] };
    const ofFoyer: Rounds = { perSecond: [], cpuMs: [] };
    for (let pair = 0; pair < pairs; pair += 1) {
      await one(bare, ofBare, seconds * 1000);
      await one(foyer, ofFoyer, seconds * 1000);
    }
    return [compared(`Look-up of a user record, ${stores.name}`, ofBare, ofFoyer)];
  } finally {
    await Promise.all([generator.stop(), bareChild.stop(), foyerChild.stop()]);
  }
}
