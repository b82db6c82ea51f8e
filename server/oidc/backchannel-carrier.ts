import { randomUUID } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import { type LogoutCarrier, type LogoutNotice, PermanentDeliveryError } from '../messages/index.ts';
import { propertyIn } from '../shared/index.ts';
import type { Database, SecretBox } from '../store/index.ts';
import { findClient } from './client-store.ts';
import { findRedirectUriFault } from './redirect-uri-registration-rules.ts';
import { loadJwks } from './signing-key-store.ts';

interface LogoutCarrierSettings {
  database: Database;
  keysBox: SecretBox;
  /** `iss`: the public address. */
  issuer: string;
  /** Allows plain http on this machine. */
  development: boolean;
  now: () => number;
  timeoutMs?: number;
  slowMs?: number;
}

/** The specification recommends two minutes at most (section 2.4). */
const tokenSeconds = 120;
/** A slower delivery is given up: it blocks a slot that others wait for. */
const usualSlowMs = 2_000;
/**
 * A client app that times out is paused for this long, so that its further messages do not delay those to other apps.
 */
const restMs = 4_000;
const event = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * Delivers logout tokens to client apps (OpenID Connect Back-Channel Logout 1.0, section 2.5). They are signed at each
 * delivery with the current key, so that a token that waited for hours is not old. The operator registered the address,
 * so private networks are allowed; redirects are not followed, and only the status of the answer is read.
 */
export function logoutCarrier(settings: LogoutCarrierSettings): LogoutCarrier {
  const { database, keysBox, issuer, development, now, timeoutMs = 10_000, slowMs = usualSlowMs } = settings;
  const restsUntil = new Map<string, number>();

  /** The current registration, so that a corrected address also applies to waiting messages. */
  async function registered({ clientId, address, algorithm }: LogoutNotice) {
    const client = await findClient(database.db, clientId);
    if (!client) return { address, algorithm };
    return { address: client.backchannel_logout_uri, algorithm: client.id_token_signed_response_alg };
  }

  async function tokenFor({ clientId, sub, sid }: LogoutNotice, algorithm: string): Promise<string> {
    const { keys } = await loadJwks(database, keysBox, now());
    const jwk = keys.find(({ alg }) => alg === algorithm);
    if (!jwk?.kid) throw new Error(`no key signs ${algorithm}`);
    const nowSeconds = Math.floor(now() / 1000);
    return new SignJWT({ events: { [event]: {} }, sid })
      .setProtectedHeader({ alg: algorithm, kid: jwk.kid, typ: 'logout+jwt' })
      .setIssuer(issuer)
      .setAudience(clientId)
      .setSubject(sub)
      .setIssuedAt(nowSeconds)
      .setExpirationTime(nowSeconds + tokenSeconds)
      .setJti(randomUUID())
      .sign(await importJWK(jwk as JWK, algorithm));
  }

  async function post(address: string, token: string): Promise<number> {
    const answer = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body?.cancel();
    return answer.status;
  }

  return {
    name: 'logout',
    async send(notice) {
      const { address, algorithm } = await registered(notice);
      if (address === undefined)
        throw new PermanentDeliveryError('the client app does not want to hear of it any more');
      const fault = findRedirectUriFault(address, { native: false, development });
      if (fault !== undefined) throw new PermanentDeliveryError(`the client app's address ${fault}`);
      if ((restsUntil.get(address) ?? 0) > now()) throw new Error('the client app did not answer a moment ago');
      restsUntil.delete(address);
      const token = await tokenFor(notice, algorithm);
      const beganMs = performance.now();
      const status = await post(address, token).catch((error: unknown) => {
        const hangs = propertyIn(error, 'name') === 'TimeoutError';
        if (hangs) restsUntil.set(address, now() + restMs);
        throw new Error(hangs ? `no answer within ${timeoutMs / 1000} seconds` : toNetworkReason(error), {
          cause: error,
        });
      });
      if (performance.now() - beganMs > slowMs) restsUntil.set(address, now() + restMs);
      if (status === 200 || status === 204) return;
      // Section 2.8: the token was invalid, or the client app could not sign the user out.
      if (status === 400) throw new PermanentDeliveryError('the client app refused it (400)');
      throw new Error(`the client app answered ${status}`);
    },
  };
}

/** The cause of a network error: `fetch` itself only reports that it failed. */
function toNetworkReason(error: unknown): string {
  const cause = propertyIn(error, 'cause');
  return `cannot be reached: ${propertyIn(cause, 'code') ?? propertyIn(cause, 'message') ?? 'no answer'}`;
}
