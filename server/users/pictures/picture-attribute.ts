import { isImageName } from '../profile-fields.ts';
import { type Media, pictureUrl, toImagePath } from '../user.ts';

type PictureAttribute =
  /** As it is already. */
  { kind: 'same' } | { kind: 'set'; imageName: string | null; url: string | null } | { kind: 'refused' };

/**
 * A value for the attribute `picture`: '' for none, a path below the address of pictures, or an address there. Client
 * apps show the picture to others, so no user may name another host.
 * @param present the attribute's present value
 */
export function readPictureAttribute(
  value: string,
  { media, present }: { media: Media; present: string | null },
): PictureAttribute {
  if (value === (present ?? '')) return { kind: 'same' };
  if (value === '') return { kind: 'set', imageName: null, url: null };
  const url = isImageName(value, media.url) ? pictureUrl(toImagePath(value), media) : undefined;
  return url === undefined ? { kind: 'refused' } : { kind: 'set', imageName: value, url };
}
