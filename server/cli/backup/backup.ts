import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type Config, loadConfig } from '../../../config/load.ts';
import {
  databaseFile,
  inspectDatabase,
  isDiskFull,
  migrationState,
  newestMigration,
  shortLivedFile,
  snapshotSqlite,
  syncPath,
} from '../../store/index.ts';
import type { Program } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { CliError, exitCodes, refused } from '../errors.ts';
import type { CliIo, Result } from '../io.ts';
import { runRecorded } from '../record-command.ts';
import { moment } from '../text.ts';
import { copyWithHash, openPlainFile } from './file-copies.ts';
import { type Manifest, manifestFile, writeManifest } from './manifest.ts';

/** @throws {CliError} the database has tools of its own */
export function requireEmbeddedDatabase({ DATABASE_URL: url }: Config, todo: string): void {
  if (url === undefined) return;
  throw new CliError(exitCodes.refused, `Refused: the database is PostgreSQL. ${todo} (docs/production.md, "Backup").`);
}

export const noSpace = (folder: string) =>
  new CliError(exitCodes.trouble, `No space is left on the disk of ${folder}. Nothing was changed.`);

function requireNothingAt(path: string, target: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }))
    throw refused([`${target}: exists already; a backup is a new folder, and overwrites nothing`]);
}

/** The copies of the embedded stores, with their fingerprints. */
async function copyStores(config: Config, folder: string): Promise<Manifest['files']> {
  const names = config.REDIS_URL === undefined ? ([databaseFile, shortLivedFile] as const) : ([databaseFile] as const);
  const files: Manifest['files'] = [];
  for (const name of names) {
    const source = join(config.DATA_DIR, name);
    if (!existsSync(source)) continue;
    await snapshotSqlite(source, join(folder, name));
    const copy = await openPlainFile(join(folder, name), name);
    try {
      files.push({ name, ...(await copyWithHash(copy)) });
    } finally {
      await copy.close();
    }
  }
  return files;
}

async function readNewestMigration(folder: string): Promise<string | undefined> {
  const database = await inspectDatabase(undefined, folder);
  try {
    return database && (await newestMigration(database));
  } finally {
    await database?.close();
  }
}

/** Writes a backup to a folder that does not exist yet: complete, or not at all. */
async function writeBackup({ config, now }: Context, folder: string): Promise<Manifest> {
  const partial = `${folder}.partial-${randomBytes(4).toString('hex')}`;
  await mkdir(partial, { mode: 0o700 });
  try {
    const createdAt = new Date(now()).toISOString();
    const files = await copyStores(config, partial);
    const migration = await readNewestMigration(partial);
    if (migration === undefined) throw refused([`${join(config.DATA_DIR, databaseFile)}: has no tables`]);
    const manifest: Manifest = { format: 1, createdAt, migration, files };
    const text = writeManifest(manifest, config.SECRET_KEYS);
    await writeFile(join(partial, manifestFile), text, { mode: 0o600, flag: 'wx', flush: true });
    syncPath(partial);
    // A folder with files is never replaced by this.
    await rename(partial, folder);
    syncPath(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    throw isDiskFull(error) ? noSpace(dirname(folder)) : error;
  }
}

async function backUp(io: CliIo, target: string): Promise<Result> {
  const config = loadConfig(io.env);
  requireEmbeddedDatabase(config, 'Back it up with pg_dump');
  if (!existsSync(join(config.DATA_DIR, databaseFile)))
    throw new CliError(exitCodes.trouble, `There is no ${databaseFile} in ${config.DATA_DIR}: nothing to back up.`);
  const folder = resolve(target);
  requireNothingAt(folder, target);
  const parent = await open(dirname(folder));
  await parent.close();
  const act = async (context: Context): Promise<Result> => {
    const manifest = await writeBackup(context, folder);
    const { createdAt, migration, files } = manifest;
    const redis = config.REDIS_URL === undefined ? [] : ['The short-lived state is in Redis, and not in the backup.'];
    const lines = [
      `Backup of ${moment(Date.parse(createdAt))} in ${folder}, with the tables of migration ${migration}:`,
      ...files.map(({ name, bytes, sha256 }) => `  ${name}  ${bytes} bytes, SHA-256 ${sha256}`),
      ...redis,
      'It opens only with the SECRET_KEY of today: keep that in another place.',
    ];
    return { json: { folder, ...manifest }, text: lines.join('\n') };
  };
  const run = async (context: Context) => {
    // Before a migration there may be no table for the event.
    const { pending } = await migrationState(context.database);
    return pending.length === 0 ? runRecorded(context, 'backup', () => act(context)) : act(context);
  };
  return withContext(io, run, { migrated: false, config });
}

export const backupCommand = ({ add, io }: Program): void =>
  add('backup', {
    description: 'copy the embedded stores to a new folder, while Foyer runs',
    args: [['<folder>', 'the new folder; its parent exists']],
    json: 'print JSON: {"folder", "format", "createdAt", "migration", "files": [{"name", "bytes", "sha256"}]}',
    help: `
The copy is consistent: everything that was committed before is in it. It is written beside the folder, checked, and
renamed at the end, with mode 700, files with mode 600, and a manifest that SECRET_KEY signs. It never contains
SECRET_KEY or other variables. An interrupted run leaves a folder *.partial-…, which can be deleted.

Only for SQLite: PostgreSQL has pg_dump. \`foyer restore\` reads the folder; docs/production.md has both.

Example:
  foyer backup /var/backups/foyer/2026-11-24`,
    run: (target: string) => backUp(io, target),
  });
