import type { PageMember } from '../../views/page-context.ts';
import { fullName, type User } from './user.ts';

const firstLetter = (text: string) => Array.from(text)[0] ?? '';

/**
 * A member as a page's header shows them: the picture, or the initials of given and family name.
 * @param mediaUrl where pictures are; one that lies elsewhere is not shown (the content security policy would stop it)
 */
export function pageMember(user: User, mediaUrl: string | undefined): PageMember {
  const initials = `${firstLetter(user.givenName)}${firstLetter(user.familyName)}` || firstLetter(user.email);
  return {
    name: fullName(user),
    email: user.email,
    initials: initials.toUpperCase(),
    pictureUrl: pictureUrl(user.picture, mediaUrl),
  };
}

function pictureUrl(picture: string | null, mediaUrl: string | undefined): string | undefined {
  if (picture === null || picture === '' || mediaUrl === undefined) return undefined;
  // The media address may have a path: what is relative lies below it.
  const url = URL.parse(picture, mediaUrl.endsWith('/') ? mediaUrl : `${mediaUrl}/`);
  return url?.origin === new URL(mediaUrl).origin ? url.href : undefined;
}
