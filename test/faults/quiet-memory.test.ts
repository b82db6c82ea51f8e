import { readFile } from 'node:fs/promises';
import { createQuietWatch } from '../../server/process/quiet-memory.ts';
import { createServers, untilReady } from '../journeys/server-process.ts';
import { until } from '../support/workers.ts';
import { withoutSandbox } from './without-sandbox.ts';

const servers = createServers();
afterAll(() => servers.end());

it('Memory is saved after five quiet seconds in succession, and no longer in the first busy one', () => {
  const watch = createQuietWatch();
  const shares = [0.01, 0, 0.05, 0.01, 0.06, 0, 0, 0, 0, 0.05, 0.02, 0.06, 0.01];
  expect(shares.map(watch)).toEqual([...Array(9).fill(false), true, true, false, false]);
});

it('A server to which nothing is sent returns memory that its start has used', async () => {
  const variables = { ...withoutSandbox(await servers.folder()) };
  const server = await servers.start(variables, { nodeOptions: ['--trace-gc', '--trace-memory-reducer'] });
  await untilReady(server);
  await until('V8 has collected to save memory', () => server.stdout().includes('Mark-Compact (reduce)'), 60_000);
  const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
  expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(160_000);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
}, 120_000);
