import * as client from 'openid-client';
import type { clientAuthentications } from '../../../config/provider-rules.ts';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { minuteMs } from '../../shared/index.ts';
import { toSigningKey } from './client-keys.ts';
import { isWrongClient, isWrongCode } from './oidc-errors.ts';

/** The part of a provider's configuration with which Foyer authenticates there. */
type ClientCredentials = Pick<OidcProviderConfig, 'clientId' | 'clientSecret' | 'clientAuthentication' | 'privateKey'>;

/** One way to authenticate at the token endpoint (OpenID Connect Core 1.0, section 9). */
export interface AuthenticationWay {
  name: (typeof clientAuthentications)[number] | 'none' | 'private_key_jwt with the token endpoint as audience';
  authenticate: client.ClientAuth;
}

const encodedAlike = (text: string) => /^[A-Za-z0-9]*$/.test(text);

/** RFC 6749, section 2.3.1, without the encoding that it demands: some providers do not decode. */
function basicRaw(clientId: string, secret: string): client.ClientAuth {
  const credentials = Buffer.from(`${clientId}:${secret}`).toString('base64');
  return (...[, , , headers]) => headers.set('authorization', `Basic ${credentials}`);
}

const waysBySecret = (clientId: string, secret: string) =>
  ({
    basic: { name: 'basic', authenticate: client.ClientSecretBasic(secret) },
    'basic-raw': { name: 'basic-raw', authenticate: basicRaw(clientId, secret) },
    post: { name: 'post', authenticate: client.ClientSecretPost(secret) },
  }) as const;

/** The audience is the issuer. Some providers want the address of the token endpoint, as RFC 7523 has it. */
function keyWays(privateKey: string, server: client.ServerMetadata): AuthenticationWay[] {
  const key = toSigningKey(privateKey, server.token_endpoint_auth_signing_alg_values_supported);
  const by =
    (options: client.ModifyAssertionOptions): client.ClientAuth =>
    async (...request) =>
      client.PrivateKeyJwt(await key, options)(...request);
  const toTokenEndpoint = (_header: object, payload: Record<string, unknown>) => {
    payload.aud = server.token_endpoint;
  };
  return [
    { name: 'private_key_jwt', authenticate: by({}) },
    {
      name: 'private_key_jwt with the token endpoint as audience',
      authenticate: by({ [client.modifyAssertion]: toTokenEndpoint }),
    },
  ];
}

/**
 * The possible ways at a provider, the most likely one first. With `clientAuthentication` only that one, else the one
 * that discovery names (Discovery 1.0, section 3: Basic by default), and the others for a provider that refuses it.
 */
export function authenticationWays(config: ClientCredentials, server: client.ServerMetadata): AuthenticationWay[] {
  const { clientId, clientSecret, clientAuthentication: configured, privateKey } = config;
  if (privateKey !== undefined && (configured ?? 'private_key_jwt') === 'private_key_jwt')
    return keyWays(privateKey, server);
  if (clientSecret === undefined) return [{ name: 'none', authenticate: client.None() }];
  if (configured !== undefined && configured !== 'private_key_jwt')
    return [waysBySecret(clientId, clientSecret)[configured]];
  return secretWays(config, server);
}

/** The ways to give the secret, the most likely one first. */
export function secretWays(
  { clientId, clientSecret }: ClientCredentials,
  server: client.ServerMetadata,
): AuthenticationWay[] {
  if (clientSecret === undefined) return [];
  const { basic, 'basic-raw': raw, post } = waysBySecret(clientId, clientSecret);
  const known = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const byPost = known.includes('client_secret_post') && !known.includes('client_secret_basic');
  const byBasic = encodedAlike(clientId) && encodedAlike(clientSecret) ? [basic] : [basic, raw];
  return byPost ? [post, ...byBasic] : [...byBasic, post];
}

/** How long a provider that has refused every way is asked by the first one alone. */
const pauseMs = 10 * minuteMs;

interface ClientAuthentication {
  /**
   * Runs a request with the way that this provider takes. If it refuses the client, the other ways are tried: once, and
   * the accepted one is remembered by this process. After a refusal of all of them they are left alone for ten minutes,
   * whatever visitors do.
   * @throws the first error
   */
  run<T>(server: client.ServerMetadata, act: (way: AuthenticationWay) => Promise<T>): Promise<T>;
}

export function createClientAuthentication(config: ClientCredentials, now: () => number): ClientAuthentication {
  let accepted: AuthenticationWay['name'] | undefined;
  let pausedFromMs: number | undefined;
  let trial: Promise<void> | undefined;

  const choose = (ways: readonly AuthenticationWay[]) => ways.find(({ name }) => name === accepted) ?? ways[0];
  const isPaused = () => pausedFromMs !== undefined && Math.abs(now() - pausedFromMs) < pauseMs;

  /** @returns undefined: the provider takes none of these */
  async function tryEach<T>(
    ways: readonly AuthenticationWay[],
    act: (way: AuthenticationWay) => Promise<T>,
  ): Promise<{ result: T } | undefined> {
    for (const way of ways) {
      try {
        const result = await act(way);
        accepted = way.name;
        return { result };
      } catch (error) {
        // The client was known, or the provider would not have looked at the code.
        if (isWrongCode(error)) accepted = way.name;
        if (!isWrongClient(error)) throw error;
      }
    }
    return undefined;
  }

  return {
    async run(server, act) {
      const ways = authenticationWays(config, server);
      const first = choose(ways);
      if (!first) throw new Error('no way to authenticate');
      try {
        return await act(first);
      } catch (error) {
        if (!isWrongClient(error)) throw error;
        // Of several sign-ins at once one tries, and the others wait for what it finds.
        await trial;
        const current = choose(ways);
        if (current && current !== first) return act(current);
        if (isPaused()) throw error;
        pausedFromMs = now();
        const { promise, resolve } = Promise.withResolvers<void>();
        trial = promise;
        try {
          const others = ways.filter((way) => way !== first);
          const found = await tryEach(others, act);
          if (found) return found.result;
          throw error;
        } finally {
          trial = undefined;
          resolve();
        }
      }
    },
  };
}
