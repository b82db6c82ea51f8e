import { setPageUser } from './http/index.ts';
import { countUnread } from './messages/index.ts';
import type { Sessions } from './sessions/index.ts';
import type { Database } from './store/index.ts';
import { createImageNameReader, type Media, toPageUser } from './users/index.ts';

/** These endpoints of client apps render no pages with a user. */
const withoutPages = /^\/oauth2\//;

/** Sets the user for pages after each look-up: header and language follow. */
export function withPageUser(
  sessions: Sessions,
  { database, media }: { database: Database; media: Media | undefined },
): Sessions {
  const findImageName = createImageNameReader(database);
  return {
    ...sessions,
    async getCurrentUser(req) {
      const found = await sessions.getCurrentUser(req);
      if (found) {
        const { user } = found;
        const isVisible = media !== undefined && !withoutPages.test(req.path);
        const [imageName, unread] = await Promise.all([
          isVisible ? findImageName(user.id) : '',
          withoutPages.test(req.path) ? 0 : countUnread(database.db, user.id),
        ]);
        setPageUser(req, { member: toPageUser({ ...user, imageName }, media), locale: user.locale, unread });
      }
      return found;
    },
  };
}
