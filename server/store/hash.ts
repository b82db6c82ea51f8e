import { hash } from 'node:crypto';

/** SHA-256 in base64url, 43 characters: how ids that are bearer secrets are stored. Not for guessable values. */
export function sha256(value: string): string {
  return hash('sha256', value, 'base64url');
}
