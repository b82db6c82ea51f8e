import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Cli, cliOn } from '../support/cli.ts';

/** A folder of one test, with room for data folders and backups. */
export interface TestFolders {
  path(name: string): string;
  /** The operator's command for the stores in one of its folders. */
  cli(name: string, environment?: Record<string, string>, now?: () => number): Cli;
  remove(): Promise<void>;
}

export async function makeFolders(): Promise<TestFolders> {
  const root = await mkdtemp(join(tmpdir(), 'foyer-backup-'));
  const path = (name: string) => join(root, name);
  return {
    path,
    cli: (name, environment = {}, now = undefined) =>
      cliOn({ databaseUrl: '', redisUrl: '', dataDir: path(name) }, environment, now),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** All rows of a query on a file of SQLite. */
export function queryFile(path: string, query: string): Record<string, unknown>[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database
      .prepare(query)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

/** Name, permissions and content of every file below a folder. */
export async function readFolder(folder: string): Promise<Record<string, { mode: number; sha256: string }>> {
  const names = await readdir(folder, { recursive: true });
  const entries = await Promise.all(
    names.toSorted().map(async (name) => {
      const facts = await stat(join(folder, name));
      const content = facts.isFile() ? await readFile(join(folder, name)) : '';
      return [name, { mode: facts.mode & 0o777, sha256: createHash('sha256').update(content).digest('hex') }] as const;
    }),
  );
  return Object.fromEntries(entries);
}
