import { type Figure, quantile } from './figures.ts';
import type { Generator } from './generator/main.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

/** The limits of the product, without the limit of requests for a page. */
const productLimits = {
  GUESS_LIMIT_ACCOUNT: '10',
  GUESS_LIMIT_DEVICE: '20',
  GUESS_LIMIT_ADDRESS: '50',
  GUESS_LIMIT_OVERALL: '5000',
  PASSWORD_LIMIT_DEVICE: '30',
  PASSWORD_LIMIT_MEMBER: '60',
  PASSWORD_QUEUE_ACCOUNT: '4',
  PASSWORD_QUEUE_ADDRESS: '10',
};
const rightPasswords = 200;
const devices = 12;
const honest = 10;

/** The time that other users wait for their sign-in while one user sends 200 right passwords at once. */
export async function measureFlood(stores: Stores, { pairs }: Effort): Promise<Figure[]> {
  const generator = startChild<Generator>('generator/main.ts');
  const foyer = startChild<FoyerServer>('servers/foyer.ts', { ...stores.environment, ...productLimits });
  try {
    const { port } = await foyer.start({ members: 2 * pairs * (honest + 1) });
    const alone: number[] = [];
    const during: number[] = [];
    let refused = 0;
    for (let round = 0; round < pairs; round += 1) {
      const first = round * 2 * (honest + 1);
      const quiet = await generator.honestSignIns({ port, first, count: honest });
      alone.push(...quiet.waitedMs);
      const flooded = await generator.flood({
        port,
        member: first + honest,
        devices,
        rightPasswords,
        first: first + honest + 1,
        count: honest,
      });
      during.push(...flooded.waitedMs);
      refused += flooded.refused;
    }
    return [
      {
        what: `A sign-in while one member sends ${rightPasswords}, slowest`,
        value: Math.max(...during),
        unit: 'ms',
        aim: { below: 2_000 },
        detail: `median ${quantile(during, 0.5).toFixed(0)} ms, alone ${quantile(alone, 0.5).toFixed(0)} ms; ${during.length} sign-ins, of which ${refused} were refused`,
      },
    ];
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
  }
}
