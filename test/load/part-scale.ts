import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nodeSettings } from '../../scripts/lib/processes.mjs';
import { type Figure, median } from './figures.ts';
import { generateMembers } from './generated-members.ts';
import { type Effort, measureProvider } from './part-provider.ts';
import { measureSignIns } from './part-sign-in.ts';
import type { Stores } from './stores.ts';

const main = join(import.meta.dirname, '..', '..', 'dist', 'server', 'cli', 'main.js');
const runFile = promisify(execFile);

/** The commands that operators run, with members of the middle of the list. */
function listCommands(count: number): [string, string[]][] {
  const member = `generated${Math.ceil(count / 2)}@example.com`;
  return [
    ['foyer user list', ['user', 'list', '--limit', '100']],
    ['foyer user list --after', ['user', 'list', '--limit', '100', '--after', member]],
    ['foyer user show', ['user', 'show', member]],
  ];
}

/** The median of three runs, in milliseconds, with the start of the command. */
async function timeCommand({ environment }: Stores, args: string[]): Promise<number> {
  const env = { PATH: process.env.PATH, NODE_ENV: 'production', ...environment, ...nodeSettings({}) };
  const times: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const beganMs = performance.now();
    await runFile(process.execPath, [main, ...args], { env, maxBuffer: 10_000_000 });
    times.push(performance.now() - beganMs);
  }
  return median(times);
}

const sizeMb = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6;

/** Every figure of stores with so many members. */
async function measureSize(stores: Stores, count: number, effort: Effort): Promise<Figure[]> {
  const { rows, seconds } = await generateMembers(stores, count);
  const dataDir = stores.environment.DATA_DIR ?? '';
  const megabytes = sizeMb(join(dataDir, 'foyer.db')) + sizeMb(join(dataDir, 'short-lived.db'));
  const filled: Figure = {
    what: 'filled',
    value: seconds * 1_000,
    unit: 'ms',
    detail: `${rows} rows, ${megabytes.toFixed(0)} MB of files`,
  };
  const served = [...(await measureProvider(stores, effort)), ...(await measureSignIns(stores, effort))];
  const commands: Figure[] = [];
  for (const [what, args] of listCommands(count))
    commands.push({ what, value: await timeCommand(stores, args), unit: 'ms' });
  return [filled, ...served.map(({ aim: _, ...figure }) => figure), ...commands];
}

/** At most 1.1 times the time, or the rate divided by 1.1. */
const mostSlower = 1.1;

/**
 * The same figures with each number of members, each compared with the first.
 * @param open new, empty stores for each number
 */
export async function measureScale(
  open: () => Promise<Stores>,
  counts: readonly number[],
  effort: Effort,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  let first: Figure[] | undefined;
  for (const count of counts) {
    const stores = await open();
    try {
      const measured = await measureSize(stores, count, effort);
      for (const [index, figure] of measured.entries()) {
        const { what, value, unit } = figure;
        figures.push({ ...figure, what: `${count} members: ${what}` });
        const before = first?.[index];
        if (!before || what === 'filled' || unit === 'MB') continue;
        const slower = unit === 'ms' ? value / before.value : before.value / value;
        figures.push({
          what: `… slower than with ${counts[0]}`,
          value: slower,
          unit: 'ratio',
          aim: { below: mostSlower },
        });
      }
      first ??= measured;
    } finally {
      await stores.remove();
    }
  }
  return figures;
}
