import type { PageUser } from '../../views/page-context.ts';
import { fullName, type User } from './user.ts';

const firstLetter = (text: string) => Array.from(text)[0] ?? '';

/** What a member's own row and their record say of them. */
export type UserDisplay = Pick<User, 'givenName' | 'familyName' | 'email' | 'picture'> & {
  /** Of the user record; '' for none. */
  imageName: string;
};

/** Where members' pictures are. */
export interface Media {
  url: string;
  /** Foyer serves them itself: beside them are its own pages. */
  isLocal: boolean;
}

/**
 * A member as a page's header shows them: the picture, or the initials of given and family name.
 * @param media where pictures are; one that lies elsewhere is not shown (the content security policy would stop it)
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

/** The name of an object is no address: what stands for something else in one is written as it is meant. */
const toImagePath = (name: string): string =>
  URL.canParse(name) ? name : name.split('/').map(encodeURIComponent).join('/');

/** Members write both names themselves: on this host they must not lead to a page that does something. */
function pictureUrl(picture: string | null, media: Media | undefined): string | undefined {
  if (picture === null || picture === '' || media === undefined) return undefined;
  // The media address may have a path: what is relative lies below it.
  const base = new URL(media.url.endsWith('/') ? media.url : `${media.url}/`);
  const url = URL.parse(picture, base);
  if (url?.origin !== base.origin) return undefined;
  return media.isLocal && !url.pathname.startsWith(base.pathname) ? undefined : url.href;
}
