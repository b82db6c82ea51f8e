import { rmSync } from 'node:fs';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandbox } from '../../sandbox/index.ts';
import { companyKeysIn } from '../../sandbox/providers/index.ts';
import { createDeps } from '../../server/deps.ts';
import { prepare } from '../../server/process/index.ts';

let prepared: Promise<string> | undefined;

/** What a sandbox has after its first start: tables, keys, the demo member. Made once for all tests of this process. */
async function preparedFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-prepared-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { deps } = await createDeps({ DATA_DIR: folder }, sandbox);
  await prepare(deps, () => {}, sandbox);
  companyKeysIn(join(folder, 'sandbox-providers', 'keys'), Date.now());
  await Promise.all([deps.kv.close(), deps.database.close()]);
  return folder;
}

/** Makes a folder one that a sandbox has been started in: a first start makes three RSA keys, for a second of the processor. */
export async function copyPrepared(folder: string): Promise<void> {
  prepared ??= preparedFolder();
  await cp(await prepared, folder, { recursive: true });
}
