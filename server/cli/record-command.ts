import type { Config } from '../../config/load.ts';
import { actAs, recordEntry } from '../audit/index.ts';
import type { UserId } from '../shared/index.ts';
import { inspectDatabase, migrationState } from '../store/index.ts';
import { type Context, withContext } from './context.ts';
import { explain, operatingUser } from './errors.ts';
import type { CliIo } from './io.ts';

/** Commands that only read leave no event. */
const reading = /(?:^| )(?:list|show|verify|check|refusals|preview|diff|doctor|migrate)$/;

/**
 * The wrapper of docs/production.md runs the command as the service's user, and says in FOYER_OPERATOR who has called it.
 * A caller can write any name there, as one who can run the command can write to the database.
 */
function operatorName({ FOYER_OPERATOR: name = '' }: NodeJS.ProcessEnv): string {
  return /^[\w.@+-]{1,100}$/.test(name) ? name : operatingUser().slice(0, 100);
}

/** The member whom a command is about: the last one that it has looked up. */
const subjects = new WeakMap<object, UserId>();

export const setSubject = (context: Pick<Context, 'database'>, userId: UserId): void =>
  void subjects.set(context.database, userId);

/** An erased member must not be named again. */
export const forgetSubject = (context: Pick<Context, 'database'>): void => void subjects.delete(context.database);

/**
 * Runs a command as its operator, and records it with its exit code in the audit trail: its name, never its arguments.
 */
export async function runRecorded<T extends { error?: unknown }>(
  context: Context,
  command: string,
  run: () => Promise<T>,
): Promise<T> {
  const actor = { kind: 'operator', name: operatorName(context.io.env) } as const;
  if (reading.test(command)) return actAs(actor, run);
  const record = (exitCode: number) =>
    recordEntry(context.database.db, {
      type: 'operator.command',
      details: { command, exitCode },
      subject: subjects.get(context.database),
      actor,
      atMs: context.now(),
    });
  try {
    const result = await actAs(actor, run);
    await record(result.error === undefined ? 0 : explain(result.error).exitCode);
    return result;
  } catch (error) {
    await record(explain(error).exitCode);
    throw error;
  }
}

/** The same for a command that changes a file. It may run before the first start, when there is no audit trail yet. */
export async function runRecordedIfMigrated(
  io: CliIo,
  { config, command }: { config: Config; command: string },
  run: () => Promise<void>,
): Promise<void> {
  const database = await inspectDatabase(config.DATABASE_URL, config.DATA_DIR);
  if (!database) return run();
  const { pending } = await migrationState(database).finally(() => database.close());
  if (pending.length > 0) return run();
  const act = async () => {
    await run();
    return {};
  };
  await withContext(io, (context) => runRecorded(context, command, act), { migrated: false, config });
}
