import { once, parseUnknownJson } from '../shared/index.ts';

/** Loaded after the start, or at the first use of a passkey: it takes up to a quarter of a second. */
export const webAuthn = once(() => import('@simplewebauthn/server'));

/** The challenge in a browser's answer; undefined if it is unreadable. */
export function readChallenge({ response }: { response: { clientDataJSON?: unknown } }): string | undefined {
  const clientData = readClientData(response.clientDataJSON);
  return typeof clientData?.challenge === 'string' ? clientData.challenge : undefined;
}

interface ClientData {
  challenge?: unknown;
  crossOrigin?: unknown;
}

/** WebAuthn, section 5.8.1. */
export function readClientData(encoded: unknown): ClientData | undefined {
  if (typeof encoded !== 'string') return undefined;
  try {
    const value = parseUnknownJson(Buffer.from(encoded, 'base64url').toString());
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
