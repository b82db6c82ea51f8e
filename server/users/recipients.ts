import { resolveLanguage } from '../http/index.ts';
import type { Recipient, RecipientDirectory } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { normaliseEmail, type User } from './user.ts';
import { findUser, findUserByIdentifier } from './user-store.ts';

function toRecipient(user: User | undefined): Recipient | undefined {
  if (!user || user.disabledAt !== null) return undefined;
  const { id, email, givenName, locale } = user;
  return { userId: id, email, givenName, lang: resolveLanguage(undefined, locale ?? undefined) };
}

/** Users as recipients of messages. */
export function createUserRecipients({ db }: Database): RecipientDirectory {
  return {
    async byEmail(text) {
      const email = normaliseEmail(text);
      return email === undefined ? undefined : toRecipient(await findUserByIdentifier(db, { email }));
    },
    byId: async (userId) => toRecipient(await findUser(db, userId)),
  };
}
