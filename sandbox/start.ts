import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shippedPlansFile } from '../config/plans.ts';
import { start } from '../server/start.ts';
import { sandbox } from './companion.ts';

/** The shipped plans with pauses, which can be tried here; worker processes get the file by the environment. */
function offerPauses(): void {
  if (process.env.PLANS_FILE !== undefined) return;
  const folder = mkdtempSync(join(tmpdir(), 'foyer-sandbox-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'plans.json');
  const plans = JSON.parse(readFileSync(shippedPlansFile, 'utf8'));
  writeFileSync(file, JSON.stringify({ ...plans, pause: { months: [1, 2, 3] } }, undefined, 2));
  process.env.PLANS_FILE = file;
}

/** The server process of development: Foyer, and the sandbox beside it. */
export async function startWithSandbox(): Promise<void> {
  offerPauses();
  await start(sandbox);
}
