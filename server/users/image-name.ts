import { picturePathParts } from '../http/index.ts';

/**
 * Tests whether a text is a valid imageName: the path of a picture below MEDIA_URL, without `..`, or its whole address
 * there. Client apps append the value to an address of their own.
 */
export function isImageName(name: string, mediaUrl: string | undefined): boolean {
  if (URL.canParse(name)) {
    const { origin, username, password } = new URL(name);
    return mediaUrl !== undefined && origin === new URL(mediaUrl).origin && username === '' && password === '';
  }
  return picturePathParts(`/${name.split('/').map(encodeURIComponent).join('/')}`) !== undefined;
}
