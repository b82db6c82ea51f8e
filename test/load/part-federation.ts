import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, median } from './figures.ts';
import type { FederationGenerator, Way } from './generator/federation.ts';
import type { Effort } from './part-provider.ts';
import { startChild } from './rpc.ts';
import type { FoyerServer } from './servers/foyer.ts';
import type { Stores } from './stores.ts';

const signIns = 200;
const atOnce = 8;
const members = 200;
const aims: readonly [Way, number][] = [
  ['OpenID', 10],
  ['SAML', 25],
  ['SAML encrypted', 30],
];
const limitless = { COMPANY_LIMIT_ADDRESS: '1000000', SIGN_UP_LIMIT_ADDRESS: '1000000' };

/**
 * The processor time of the server for one sign-in by a company's provider, over TLS as in production; that of the
 * stand-in, the proxy and the browsers is another process's.
 */
export async function measureFederation(stores: Stores, { pairs }: Effort): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-bench-providers-'));
  const generator = startChild<FederationGenerator>('generator/federation.ts');
  const given = await generator.open({ folder });
  const foyer = startChild<FoyerServer>('servers/foyer.ts', { ...stores.environment, ...limitless, ...given });
  try {
    const { port } = await foyer.start({ members: 0 });
    await generator.toFoyer({ port });
    const figures: Figure[] = [];
    for (const [way, below] of aims) {
      // They sign up, and the process compiles what it runs often.
      const warm = await generator.signInMany({ way, count: members, atOnce, members });
      if (warm.first !== undefined) throw new Error(`${way}: ${warm.first}`);
      const cpuMs: number[] = [];
      let failures = 0;
      for (let round = 0; round < pairs; round += 1) {
        const before = (await foyer.usage()).cpuMs;
        failures += (await generator.signInMany({ way, count: signIns, atOnce, members })).failures;
        cpuMs.push(((await foyer.usage()).cpuMs - before) / signIns);
      }
      figures.push({
        what: `A sign-in by ${way}, processor time`,
        value: median(cpuMs),
        unit: 'ms',
        aim: { below },
        detail: `${pairs} × ${signIns} at ${atOnce} at once, ${failures} failed; load ${loadavg()[0]?.toFixed(1)}`,
      });
    }
    return figures;
  } finally {
    await Promise.all([generator.stop(), foyer.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}
