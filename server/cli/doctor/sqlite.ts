import { join } from 'node:path';
import { inspectSqliteFile, type SqliteFacts } from '../../store/index.ts';
import { type Area, bytesText, type Finding, findingsFor, those } from './finding.ts';

/** Reading more than this takes seconds. */
const maxBytes = 2e9;

export const lookAtSqlite = (dataDir: string, name: string) => inspectSqliteFile(join(dataDir, name), maxBytes);

/** A SQLite file: undamaged, and in the mode for several processes. */
export function judgeSqlite(area: Area, name: string, { damage, journalMode, sizeBytes }: SqliteFacts): Finding[] {
  const { ok, note, warning, fault } = findingsFor(area);
  const whole =
    damage === undefined
      ? note('sqlite.check', {
          seen: `${name} has ${bytesText(sizeBytes)}, so it was not read through.`,
          why: 'Damage would be found too late.',
          todo: `Now and then, when little is going on: sqlite3 ${name} 'PRAGMA quick_check'`,
        })
      : damage === 'ok'
        ? ok('sqlite.check', `${name} (${bytesText(sizeBytes)}) is whole.`)
        : fault('sqlite.check', {
            seen: `${name} is damaged: ${damage}`,
            why: 'What it still answers may be wrong, and it will get worse.',
            todo:
              name === 'short-lived.db'
                ? 'Stop Foyer, remove the file and those beside it, start again: members sign in once more, nothing else is lost.'
                : 'Stop Foyer, keep a copy, bring back the latest backup (docs/production.md), and look at the disk.',
          });
  return those(
    whole,
    journalMode !== 'wal' &&
      warning('sqlite.wal', {
        seen: `${name} is in the journal mode ${journalMode}, not wal.`,
        why: 'Readers then wait for writers; Foyer sets wal at its start, so something else has changed it.',
        todo: 'Restart Foyer, and let no other program change the file.',
      }),
  );
}
