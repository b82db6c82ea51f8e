import type { UserId } from '../shared/index.ts';
import { type BoundQuery, cacheUntilChanged, type Database, prepare, type Row, readTogether } from '../store/index.ts';
import type { User } from './user.ts';
import { toUser } from './user-store.ts';

type UserRow = Row<'users'> & { imageName: string | null };
type ReadUser = (id: UserId) => Promise<User | undefined>;
interface UserReads {
  read: ReadUser;
  bind(id: UserId): BoundQuery<UserRow>;
}
const userReads = new WeakMap<Database, UserReads>();
/** Of users that were read with it. */
const imageNames = new WeakMap<User, string>();
/** By request: each reads a user once. */
const ofRequests = new WeakMap<object, Map<UserId, Promise<User | undefined>>>();

/** The user of a row that `currentUserQuery` found. */
export function toCurrentUser({ imageName, ...row }: UserRow): User {
  const user = Object.freeze(toUser(row));
  imageNames.set(user, imageName ?? '');
  return user;
}

function createUserReads(database: Database): UserReads {
  const { db } = database;
  const cachedUser = cacheUntilChanged<User>(() => database.changes.ofRows('users'));
  const one = (id: UserId) => db.selectFrom('users').selectAll('users').where('users.id', '=', id);
  const select = prepare<{ id: UserId }, Row<'users'>>((v) => one(v.id));
  // Nothing of PostgreSQL is kept: one statement reads the name of the picture too.
  const { bind } = prepare<{ id: UserId }, UserRow>((v) =>
    one(v.id).leftJoin('userRecords', 'userRecords.userId', 'users.id').select('userRecords.imageName'),
  );
  return {
    bind: (id) => bind({ id }),
    read: (id) =>
      cachedUser(id, async () => {
        if (database.kind === 'sqlite') {
          const row = (await select(db, { id })).rows[0];
          return row && Object.freeze(toUser(row));
        }
        const { user } = await readTogether(database, { user: bind({ id }) });
        return user && toCurrentUser(user);
      }),
  };
}

function findReads(database: Database): UserReads {
  const known = userReads.get(database) ?? createUserReads(database);
  userReads.set(database, known);
  return known;
}

/** The query of `findCurrentUser`, for a statement that reads more than the user. */
export const currentUserQuery = (database: Database, id: UserId): BoundQuery<UserRow> => findReads(database).bind(id);

/** Gives a user that was just read to this request. */
export function rememberCurrentUser(request: object, id: UserId, user: Promise<User | undefined>): void {
  const known = ofRequests.get(request) ?? new Map<UserId, Promise<User | undefined>>();
  ofRequests.set(request, known);
  known.set(id, user);
}

/**
 * Reads a user; on SQLite from a cache that lasts until the users change, because every request reads it.
 * @param request that is answered: it reads the user once
 */
export async function findCurrentUser(database: Database, id: UserId, request?: object): Promise<User | undefined> {
  const known = request && ofRequests.get(request)?.get(id);
  if (known) return known;
  const user = findReads(database).read(id);
  if (request) rememberCurrentUser(request, id, user);
  return user;
}

/** Reads a user's imageName ('' for none), once or from a cache that lasts until the records change. */
export function createImageNameReader({ db, changes }: Database): (user: User) => Promise<string> {
  const cachedImageName = cacheUntilChanged<string>(() => changes.ofRows('user_records'));
  return async (user) => {
    const known = imageNames.get(user);
    if (known !== undefined) return known;
    const name = await cachedImageName(user.id, async () => {
      const from = db.selectFrom('userRecords').select('imageName').where('userId', '=', user.id);
      const row = await from.executeTakeFirst();
      return row?.imageName ?? '';
    });
    return name ?? '';
  };
}
