import { availableParallelism } from 'node:os';
import { hash } from '@node-rs/argon2';
import { type Figure, median } from './figures.ts';
import type { Effort } from './part-provider.ts';
import { password } from './setting.ts';

/** Memory in MiB and passes; the first pair is Foyer's minimum and default. */
const profiles: [mebibytes: number, passes: number][] = [
  [19, 2],
  [19, 3],
  [32, 2],
  [46, 2],
  [64, 2],
  [64, 3],
  [128, 3],
];

/** The time of one hash by ARGON2_MEMORY_KIB and ARGON2_PASSES, so that an operator can choose them for a machine. */
export async function measureHashes({ pairs }: Effort): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [mebibytes, passes] of profiles) {
    const cost = { memoryCost: mebibytes * 1024, timeCost: passes, parallelism: 1 };
    const [waited, worked]: [number[], number[]] = [[], []];
    for (let round = 0; round < 4 * pairs; round += 1) {
      const [beganMs, before] = [performance.now(), process.cpuUsage()];
      await hash(password, cost);
      const { user, system } = process.cpuUsage(before);
      waited.push(performance.now() - beganMs);
      worked.push((user + system) / 1000);
    }
    figures.push({
      what: `One hash with ${mebibytes} MiB and ${passes} passes`,
      value: median(worked),
      unit: 'ms',
      detail: `of processor time; ${median(waited).toFixed(1)} ms on the clock; at most ${mebibytes * availableParallelism()} MiB at once`,
    });
  }
  return figures;
}
