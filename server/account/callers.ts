import type { Request } from 'express';
import { HttpError, principalOf } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from './user.ts';
import { currentUser } from './user-store.ts';

/**
 * The member who makes a call, by session or token; undefined for a client app that acts for itself.
 * @throws {HttpError} 401 for a member who has just gone
 */
export async function callingMember(req: Request, database: Database): Promise<User | undefined> {
  const principal = principalOf(req);
  if (principal.kind === 'client') return undefined;
  const user = await currentUser(database, principal.userId);
  if (!user) throw new HttpError('unauthorized', { detail: 'the member is gone' });
  return user;
}

/** The same for calls that are open to members alone. @throws {HttpError} 401 for anybody else */
export async function memberCalling(req: Request, database: Database): Promise<User> {
  const user = await callingMember(req, database);
  if (!user) throw new HttpError('unauthorized', { detail: 'for members alone' });
  return user;
}
