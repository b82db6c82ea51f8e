import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cli, cliOf } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

let ids = 0;
export const newSub = () => {
  ids += 1;
  return `${String(ids).padStart(8, '0')}-0bad-4c7f-8c7f-0123456789ab`;
};

/** A Foyer, and the command that imports a file of users into it. */
export function setUpImport(backend: Backend) {
  let foyer: TestFoyer;
  let cli: Cli;
  let dir: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    cli = cliOf(foyer);
    dir = mkdtempSync(join(tmpdir(), 'foyer-import-'));
  });
  afterAll(async () => {
    await foyer?.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const path = (name: string) => join(dir, name);
  async function importing(content: string | Uint8Array, name = 'users.csv', ...options: string[]) {
    writeFileSync(path(name), content);
    const run = await cli('user', 'import', path(name), '--report', path('report.csv'), ...options);
    return { ...run, report: () => readFileSync(path('report.csv'), 'utf8') };
  }
  const users = () => foyer.stores.database.db.selectFrom('users').selectAll().orderBy('id').execute();
  const userOf = async (id: string) => (await users()).find((user) => user.id === id);
  const signIn = (username: string, typed: string) => foyer.browser().post('/sign-in', { username, password: typed });

  return {
    get foyer() {
      return foyer;
    },
    get cli() {
      return cli;
    },
    get dir() {
      return dir;
    },
    path,
    importing,
    users,
    userOf,
    signIn,
  };
}
