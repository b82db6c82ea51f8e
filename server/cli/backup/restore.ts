import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, loadConfig } from '../../../config/load.ts';
import {
  finishReplacement,
  inspectDatabase,
  isDiskFull,
  listDataFiles,
  lockData,
  migrate,
  migrationState,
  replaceData,
  StoreUnavailable,
  shortLivedFile,
} from '../../store/index.ts';
import type { Program } from '../command.ts';
import { type Context, withContext } from '../context.ts';
import { refused, usageError } from '../errors.ts';
import type { CliIo, Result } from '../io.ts';
import { runRecorded } from '../record-command.ts';
import { counted, moment } from '../text.ts';
import { noSpace, requireEmbeddedDatabase } from './backup.ts';
import { describeRestored, endSessionsOfEveryone, type RestoredState, secureRestored } from './end-restored-access.ts';
import { copyWithHash, openPlainFile } from './file-copies.ts';
import { type Manifest, manifestFile, readManifest } from './manifest.ts';

interface RestoreOptions {
  replace?: boolean;
  keepSessions?: boolean;
  inPlace?: boolean;
}

const maxManifestBytes = 64 * 1024;

async function openManifest(folder: string, { SECRET_KEYS: secretKeys }: Config): Promise<Manifest> {
  const file = await openPlainFile(join(folder, manifestFile), manifestFile);
  try {
    const { size } = await file.stat();
    const text = size > maxManifestBytes ? '' : await file.readFile('utf8');
    const manifest = readManifest(text, secretKeys);
    if ('fault' in manifest) throw refused([`${manifestFile}: ${manifest.fault}`]);
    return manifest;
  } finally {
    await file.close();
  }
}

/** Copies the files of a backup, and compares the copies with the manifest. */
async function copyVerified(folder: string, target: string, files: Manifest['files']): Promise<void> {
  for (const { name, bytes, sha256 } of files) {
    const source = await openPlainFile(join(folder, name), name);
    const copy = await open(join(target, name), 'wx', 0o600);
    try {
      const found = await copyWithHash(source, copy, bytes);
      if (found.bytes !== bytes)
        throw refused([`${name}: has not the ${bytes} bytes of the manifest; it is incomplete or was changed`]);
      if (found.sha256 !== sha256)
        throw refused([`${name}: its SHA-256 is not that of the manifest; it is damaged or was changed`]);
    } finally {
      await Promise.all([source.close(), copy.close()]);
    }
  }
}

/** @throws {CliError} a newer Foyer has made the backup */
async function requireKnownTables(folder: string): Promise<void> {
  const database = await inspectDatabase(undefined, folder);
  if (!database) throw refused(['the backup has no database']);
  try {
    const { unknown } = await migrationState(database);
    if (unknown.length === 0) return;
    throw refused([`the backup is of a newer Foyer (${unknown.join(', ')}): install that version, then restore`]);
  } finally {
    await database.close();
  }
}

/** The configuration of the stores in a folder. */
const storesIn = (config: Config, folder: string): Config => ({
  ...config,
  DATA_DIR: folder,
  DATABASE_URL: undefined,
  REDIS_URL: undefined,
});

/** `error` is that of a command's result: there is none. */
interface Staged {
  applied: string[];
  state: RestoredState;
  error?: undefined;
}

/** Copies a backup into `folder`, brings its tables up to date, and ends what must not live again. */
async function stage(
  io: CliIo,
  config: Config,
  source: { from: string; manifest: Manifest; folder: string; keepSessions: boolean },
): Promise<Staged> {
  const { from, manifest, folder, keepSessions } = source;
  // Without the short-lived state there are no sessions.
  const files = manifest.files.filter(({ name }) => keepSessions || name !== shortLivedFile);
  await copyVerified(from, folder, files);
  await requireKnownTables(folder);
  const prepare = async (context: Context): Promise<Staged> => {
    const { applied } = await migrate(context.database);
    const secure = async (): Promise<Staged> => ({ applied, state: await secureRestored(context, { keepSessions }) });
    return runRecorded(context, 'restore', secure);
  };
  const staged = await withContext(io, prepare, { migrated: false, config: storesIn(config, folder) });
  // The commands need some store; that of this Foyer is Redis.
  if (config.REDIS_URL !== undefined) rmSync(join(folder, shortLivedFile), { force: true });
  return staged;
}

/** @throws {CliError} a process has opened the stores */
async function replaceUnused(dataDir: string, staging: string, aside: string): Promise<void> {
  const lock = await lockData(dataDir).catch((error: unknown) => {
    throw error instanceof StoreUnavailable
      ? refused([`${error.message}: stop Foyer first, and every other command`])
      : error;
  });
  try {
    replaceData(dataDir, staging, aside);
  } finally {
    lock.release();
  }
}

function requireEmptyFolder(dataDir: string, replace: boolean): void {
  const present = listDataFiles(dataDir);
  if (present.length === 0 || replace) return;
  throw refused([`${dataDir}: has ${present.join(', ')}; --replace keeps them aside`]);
}

async function restore(
  io: CliIo,
  from: string,
  { replace = false, keepSessions = false }: RestoreOptions,
): Promise<Result> {
  const config = loadConfig(io.env);
  requireEmbeddedDatabase(config, 'Restore it with pg_restore, then run `foyer restore --in-place`');
  const { DATA_DIR: dataDir } = config;
  const manifest = await openManifest(from, config);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (finishReplacement(dataDir)) io.stderr.write('An earlier restore was interrupted: it is complete now.\n');
  requireEmptyFolder(dataDir, replace);
  const aside = `before-restore-${new Date().toISOString().replace(/[:.]/g, '-')}`;
  const had = listDataFiles(dataDir).length > 0;
  const staging = mkdtempSync(join(dataDir, 'restore.partial-'));
  let staged: Staged;
  try {
    const folder = join(staging, 'new');
    await mkdir(folder, { mode: 0o700 });
    staged = await stage(io, config, { from, manifest, folder, keepSessions });
    await replaceUnused(dataDir, staging, aside);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw isDiskFull(error) ? noSpace(dataDir) : error;
  }
  if (config.REDIS_URL !== undefined && !keepSessions) await withContext(io, endSessionsOfEveryone, { config });
  const { applied, state } = staged;
  const lines = [
    `The backup of ${moment(Date.parse(manifest.createdAt))} is restored in ${dataDir}.`,
    ...(applied.length > 0 ? [`Its tables are up to date: ${counted(applied.length, 'migration')} applied.`] : []),
    ...(had ? [`The former files are in ${join(dataDir, aside)}: delete them when all is well.`] : []),
    ...describeRestored(state),
    'All changes since the backup are undone: docs/production.md, "Restore", lists what to look at.',
  ];
  const json = {
    created_at: manifest.createdAt,
    folder: dataDir,
    aside: had ? join(dataDir, aside) : null,
    migrations: applied,
    ...toJson(state),
  };
  return { json, text: lines.join('\n') };
}

const toJson = ({ ended, cancelledResets, postponedDeletions, waitingMessages, stripeTasks }: RestoredState) => ({
  ended,
  cancelled_resets: cancelledResets,
  postponed_deletions: postponedDeletions,
  waiting_messages: waitingMessages,
  stripe_tasks: stripeTasks,
});

/** For a database that other tools have restored. */
async function secureInPlace(context: Context, keepSessions: boolean): Promise<Result> {
  const state = await secureRestored(context, { keepSessions });
  if (!keepSessions) await endSessionsOfEveryone(context);
  return { json: toJson(state), text: describeRestored(state).join('\n') };
}

export const restoreCommand = ({ add, io }: Program): void =>
  add('restore', {
    description: 'put a backup in the place of the embedded stores, while Foyer is stopped',
    args: [['[folder]', 'the backup']],
    options: [
      ['--replace', 'DATA_DIR has files: keep them aside, in a folder before-restore-…'],
      [
        '--keep-sessions',
        'keep sessions, grants and remembered devices of the backup, also those that were ended since',
      ],
      ['--in-place', 'the database was restored by other tools (pg_restore): only end what must not live again'],
    ],
    json: 'print JSON',
    help: `
The backup is checked first, against its signed manifest, and copied: a damaged or changed one changes nothing. All
files are replaced, or none, also when the command is killed: the next start or command completes it. The tables are
brought up to date. All sessions, grants with their tokens, and remembered devices end, because a thief may have had
those that ended since the backup; client apps get logout tokens. Waiting resets of second factors are canceled, and
requested deletions wait for 14 days, because the member may have canceled them since.

Refused are a backup of a newer Foyer, one of another SECRET_KEY, and a DATA_DIR that a process uses.

Examples:
  foyer restore /var/backups/foyer/2026-11-24
  foyer restore /var/backups/foyer/2026-11-24 --replace
  foyer restore --in-place`,
    run: (from: string | undefined, options: RestoreOptions) => {
      if (options.inPlace) {
        if (from !== undefined || options.replace) throw usageError('--in-place restores no folder');
        return (context) => secureInPlace(context, options.keepSessions ?? false);
      }
      if (from === undefined) throw usageError("missing required argument 'folder'");
      return restore(io, from, options);
    },
  });
