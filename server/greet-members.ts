import { type Media, pageMember, readsImageNames } from './account/index.ts';
import { greet } from './http/index.ts';
import { countUnread } from './messages/index.ts';
import type { Sessions } from './session/index.ts';
import type { Database } from './store/index.ts';

/** What belongs to client apps answers no page with a member on it. */
const withoutPages = /^\/oauth2\//;

/** Whoever finds out who is there tells the pages: header and language follow. */
export function greetMembers(
  sessions: Sessions,
  { database, media }: { database: Database; media: Media | undefined },
): Sessions {
  const imageNameOf = readsImageNames(database);
  return {
    ...sessions,
    async member(req) {
      const found = await sessions.member(req);
      if (found) {
        const { user } = found;
        const shown = media !== undefined && !withoutPages.test(req.path);
        const [imageName, unread] = await Promise.all([
          shown ? imageNameOf(user.id) : '',
          withoutPages.test(req.path) ? 0 : countUnread(database.db, user.id),
        ]);
        greet(req, { member: pageMember({ ...user, imageName }, media), locale: user.locale, unread });
      }
      return found;
    },
  };
}
