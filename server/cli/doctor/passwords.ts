import { createPepper, isBelowFloor, pepperedText, wrappedProfile } from '../../password/index.ts';
import type { Database } from '../../store/index.ts';
import { countForeignProfiles, countOwnHashes, countWrappedHashes } from '../../users/index.ts';
import { type Finding, findingsFor, those } from './finding.ts';
import type { Setup } from './setup.ts';

const { ok, note, warning } = findingsFor('database');

const hashes = (count: number, kind: string) => `${count} ${kind} ${count === 1 ? 'hash is' : 'hashes are'}`;

export interface PasswordFacts {
  /** Imported hashes below the minimum work. */
  weak: number;
  /** Hashes of Foyer's own without the newest key: without a key, or with another of the list. */
  older: number;
  /** Hashes with a key that is no longer in SECRET_KEY: these passwords cannot sign in. */
  lost: number;
}

type Facts = Omit<PasswordFacts, 'weak'>;

/** @param byKey the number for each key of the list, the newest first */
const toFacts = ({ all, plain, byKey }: { all: number; plain: number; byKey: number[] }): Facts => {
  const known = byKey.reduce((sum, count) => sum + count, 0);
  return { older: plain + known - (byKey[0] ?? 0), lost: all - plain - known };
};

async function ownFacts({ db }: Database, marks: string[]): Promise<Facts> {
  const [all, plain, ...byKey] = await Promise.all([
    countOwnHashes(db),
    countOwnHashes(db, '$argon2id$'),
    ...marks.map((mark) => countOwnHashes(db, mark)),
  ]);
  return toFacts({ all, plain, byKey });
}

/** A wrapped imported hash needs its key as well. */
async function wrappedFacts({ db }: Database, marks: string[]): Promise<Facts> {
  const count = (text?: string) => countWrappedHashes(db, wrappedProfile(''), text);
  const [all, keyed, ...byKey] = await Promise.all([count(), count(pepperedText('', '')), ...marks.map(count)]);
  return toFacts({ all, plain: all - keyed, byKey });
}

export async function lookAtPasswords(database: Database, { config }: Setup): Promise<PasswordFacts> {
  const marks = config.SECRET_KEYS.map((key) => pepperedText(createPepper([key]).id, '$'));
  const [foreign, own, wrapped] = await Promise.all([
    countForeignProfiles(database.db),
    ownFacts(database, marks),
    wrappedFacts(database, marks),
  ]);
  const weak = foreign.filter(({ profile }) => isBelowFloor(profile)).reduce((sum, { count }) => sum + count, 0);
  return { weak, older: own.older + wrapped.older, lost: own.lost + wrapped.lost };
}

/** How well the stored passwords are protected. */
export function judgePasswords({ weak, older, lost }: PasswordFacts): Finding[] {
  return those(
    lost > 0 &&
      warning('passwords.lost', {
        seen: `${hashes(lost, 'password')} made with a key that is not in SECRET_KEY.`,
        why: 'These members cannot sign in with their passwords; they have to set new ones by mail.',
        todo: 'Put the old SECRET_KEY behind the new one, with a comma, for as long as this counts any.',
      }),
    older > 0 &&
      note('passwords.older', {
        seen: `${hashes(older, 'password')} made without the newest SECRET_KEY.`,
        why: 'Each is hashed again at the next sign-in with its password; an old key must stay in the list until then.',
        todo: 'Keep the old SECRET_KEY in the list while this counts any.',
      }),
    weak > 0 &&
      note('passwords.weak', {
        seen: `${hashes(weak, 'imported password')} below the least work.`,
        why: 'An attacker with a copy of the database finds these passwords sooner; each is hashed again at the next sign-in.',
        todo: 'Import such members with --wrap-weak-hashes, or take the hashes of those away who do not come back.',
      }),
    weak + older + lost === 0 && ok('passwords.kept', 'All password hashes are made with the newest SECRET_KEY.'),
  );
}
