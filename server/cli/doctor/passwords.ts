import { createPepper, isBelowFloor, pepperedText, wrappedProfile } from '../../password/index.ts';
import type { Database } from '../../store/index.ts';
import { countForeignProfiles, countOwnHashes, countWrappedHashes } from '../../users/index.ts';
import type { Setup } from './setup.ts';

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

export async function readPasswords(database: Database, { config }: Setup): Promise<PasswordFacts> {
  const marks = config.SECRET_KEYS.map((key) => pepperedText(createPepper([key]).id, '$'));
  const [foreign, own, wrapped] = await Promise.all([
    countForeignProfiles(database.db),
    ownFacts(database, marks),
    wrappedFacts(database, marks),
  ]);
  const weak = foreign.filter(({ profile }) => isBelowFloor(profile)).reduce((sum, { count }) => sum + count, 0);
  return { weak, older: own.older + wrapped.older, lost: own.lost + wrapped.lost };
}
