import { parseUnknownJson } from '../../shared/index.ts';

/** A code that no provider has ever issued. */
export const probeCode = 'foyer-provider-check';

/** A response as if a user had authenticated. */
export function toProbeUrl(redirectUri: string, issuer: string): URL {
  const url = new URL(redirectUri);
  url.searchParams.set('code', probeCode);
  url.searchParams.set('iss', issuer);
  return url;
}

export function parsedJson(text: string): unknown {
  try {
    return parseUnknownJson(text);
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Not every provider has the words of the standard: whether it accepts the credentials is open. */
export const unknownWord = (word: string): string =>
  `its token endpoint answers ${word} to an unknown code, where invalid_grant is the word: a sign-in shows whether it takes the credentials`;
