import { languageOf } from '../http/index.ts';
import type { Recipient, Recipients } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { normalEmail, type User } from './user.ts';
import { findUser, findUserByIdentifier } from './user-store.ts';

function recipientOf(user: User | undefined): Recipient | undefined {
  if (!user || user.disabledAt !== null) return undefined;
  const { id, email, givenName, locale } = user;
  return { userId: id, email, givenName, lang: languageOf(undefined, locale ?? undefined) };
}

/** Members as those whom messages reach. */
export function memberRecipients({ db }: Database): Recipients {
  return {
    async byEmail(text) {
      const email = normalEmail(text);
      return email === undefined ? undefined : recipientOf(await findUserByIdentifier(db, { email }));
    },
    byId: async (userId) => recipientOf(await findUser(db, userId)),
  };
}
