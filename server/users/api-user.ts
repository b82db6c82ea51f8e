import type { Request } from 'express';
import { HttpError, requirePrincipal } from '../http/index.ts';
import type { Database } from '../store/index.ts';
import type { User } from './user.ts';
import { findCurrentUser } from './user-store.ts';

/**
 * The user who makes a call, by session or token; undefined for a client app that acts for itself.
 * @throws {HttpError} 401 for a user who has just been deleted
 */
export async function findCallingUser(req: Request, database: Database): Promise<User | undefined> {
  const principal = requirePrincipal(req);
  if (principal.kind === 'client') return undefined;
  const user = await findCurrentUser(database, principal.userId);
  if (!user) throw new HttpError('unauthorized', { detail: 'user not found' });
  return user;
}

/** The same for calls that are open only to users. @throws {HttpError} 401 for every other caller */
export async function requireCallingUser(req: Request, database: Database): Promise<User> {
  const user = await findCallingUser(req, database);
  if (!user) throw new HttpError('unauthorized', { detail: 'only for users' });
  return user;
}
