import { parseUnknownJson } from '../shared/index.ts';

/** A credential id, base64url; at most 1,023 bytes (WebAuthn, section 4). */
const idPattern = /^[\w-]{1,1364}$/;

export const isCredentialId = (text: string) => idPattern.test(text);

/** The parts of a browser's `PublicKeyCredential.toJSON()` that are read before the library checks the rest. */
export interface PostedCredential {
  id: string;
  response: object;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a form's field; undefined if it is not a credential. */
export function postedCredential<T extends PostedCredential>(text: string): T | undefined {
  let value: unknown;
  try {
    value = parseUnknownJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !isObject(value.response)) return undefined;
  return typeof value.id === 'string' && isCredentialId(value.id) ? (value as unknown as T) : undefined;
}
