import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Exchange } from '../../sandbox/stripe/index.ts';

/** The name of the clients of tests themselves, which do not count as calls of the product. */
export const testAgent = 'tests';

const written = new Set<string>();

/** Writes the product's requests for scripts/lib/stripe-calls.mjs, once for each process. */
export function recordRequest({ method, path, agent }: Exchange): void {
  const folder = process.env.STRIPE_REQUESTS_DIR;
  if (folder === undefined || !agent?.startsWith('Stripe/v1 NodeBindings') || agent.includes(testAgent)) return;
  const line = `${method} ${path}\n`;
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(join(folder, `${process.pid}.txt`), line);
}
