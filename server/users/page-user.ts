import type { Request } from 'express';
import type { PageUser } from '../../views/page-context.ts';
import { setPageUser } from '../http/index.ts';
import { countUnread } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { fullName, type Media, pictureUrl, toImagePath, type User } from './user.ts';
import { createImageNameReader } from './user-store.ts';

const firstLetter = (text: string) => Array.from(text)[0] ?? '';

/** The user's row and record, for the page header. */
type UserDisplay = Pick<User, 'givenName' | 'familyName' | 'email' | 'picture'> & {
  /** From the user record; '' for none. */
  imageName: string;
};

/**
 * A user in a page's header: the picture, or the initials of given and family name.
 * @param media the base address; a picture elsewhere is not shown (the content security policy would block it)
 */
export function toPageUser(user: UserDisplay, media: Media | undefined): PageUser {
  const initials = `${firstLetter(user.givenName)}${firstLetter(user.familyName)}` || firstLetter(user.email);
  return {
    name: fullName(user),
    email: user.email,
    initials: initials.toUpperCase(),
    pictureUrl: pictureUrl(toImagePath(user.imageName), media) ?? pictureUrl(user.picture, media),
  };
}

/** These endpoints of client apps render no pages with a user. */
const withoutPages = /^\/oauth2\//;

/** Sets the signed-in user of a request for its pages: header and language follow. */
export function createPageUserSetter(
  database: Database,
  media: Media | undefined,
): (req: Request, user: User) => Promise<void> {
  const findImageName = createImageNameReader(database);
  return async (req, user) => {
    // A request that bypasses Express has only the address of Node.
    const hasPages = !withoutPages.test(req.originalUrl ?? req.url);
    const [imageName, unread] = await Promise.all([
      hasPages && media !== undefined ? findImageName(user) : '',
      hasPages ? countUnread(database.db, user.id) : 0,
    ]);
    setPageUser(req, { member: toPageUser({ ...user, imageName }, media), locale: user.locale, unread });
  };
}
