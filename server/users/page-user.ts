import type { Request } from 'express';
import type { PageUser } from '../../views/page-context.ts';
import { setPageUser } from '../http/index.ts';
import { countUnread } from '../messages/index.ts';
import type { Database } from '../store/index.ts';
import { uploadFolder } from './pictures/picture-store.ts';
import { fullName, type User } from './user.ts';
import { createImageNameReader } from './user-record-store.ts';

const firstLetter = (text: string) => Array.from(text)[0] ?? '';

/** The user's row and record, for the page header. */
type UserDisplay = Pick<User, 'givenName' | 'familyName' | 'email' | 'picture'> & {
  /** From the user record; '' for none. */
  imageName: string;
};

/** The base address of the users' pictures. */
export interface Media {
  url: string;
  /** Foyer serves them itself, on the host of its own pages. */
  isLocal: boolean;
  /** Only those that users have uploaded: there is no folder of others. */
  onlyUploads?: boolean;
}

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

/** Encodes an object's name as a path, because its characters may have a meaning in an address. */
export const toImagePath = (name: string): string =>
  URL.canParse(name) ? name : name.split('/').map(encodeURIComponent).join('/');

/** Users choose both names themselves: on this host they must not address a page that acts. */
export function pictureUrl(picture: string | null, media: Media | undefined): string | undefined {
  if (picture === null || picture === '' || media === undefined) return undefined;
  // The media address may have a path: relative names are below it.
  const base = new URL(media.url.endsWith('/') ? media.url : `${media.url}/`);
  const url = URL.parse(picture, base);
  if (url?.origin !== base.origin) return undefined;
  const folder = media.onlyUploads ? `${base.pathname}${uploadFolder}/` : base.pathname;
  return media.isLocal && !url.pathname.startsWith(folder) ? undefined : url.href;
}

/** Completes a user for client apps: the claim `picture` is the picture of the page header. */
export type WithPicture = (user: User) => Promise<User>;

/** The picture of the user record; without one the claim is what an identity provider or an import gave. */
export function createPictureClaim(database: Database, media: Media): WithPicture {
  const findImageName = createImageNameReader(database);
  return async (user) => {
    const picture = pictureUrl(toImagePath(await findImageName(user.id)), media);
    return picture === undefined ? user : { ...user, picture };
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
      hasPages && media !== undefined ? findImageName(user.id) : '',
      hasPages ? countUnread(database.db, user.id) : 0,
    ]);
    setPageUser(req, { member: toPageUser({ ...user, imageName }, media), locale: user.locale, unread });
  };
}
