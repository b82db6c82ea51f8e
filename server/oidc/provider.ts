import Provider, { type AdapterPayload, type Client, type JWK } from 'oidc-provider';
import { isClientSecret } from './client-store.ts';
import { createConfiguration, type ProviderDeps, refreshTokenSeconds } from './provider-configuration.ts';
import { addMiddlewareAt, routes } from './routes-table.ts';

/** Use prolongs a refresh token that is not rotated, as rotation does with its successor. */
export function prolongUsedTokens(provider: Provider, now: () => number): void {
  addMiddlewareAt(provider, [routes.token], async (ctx, next) => {
    await next();
    if (ctx.status !== 200) return;
    const { entities, params } = ctx.oidc;
    const { RefreshToken: token, RotatedRefreshToken: rotated } = entities;
    if (!token || rotated || params?.grant_type !== 'refresh_token') return;
    const seconds = refreshTokenSeconds(token, now());
    token.exp = Math.floor(Date.now() / 1000) + seconds;
    // The adapter saves it: the library's method would count it as a new token. The library's types lack the method.
    const stored = token as typeof token & { getValueAndPayload(): Promise<{ payload: AdapterPayload }> };
    const { payload } = await stored.getValueAndPayload();
    await provider.RefreshToken.adapter.upsert(token.jti, payload, seconds);
  });
}

/**
 * The OpenID Provider, rebuilt whenever the signing keys change (about a millisecond). Foyer disables what the library
 * leaves open; docs/decisions/0001-oidc-provider.md describes the behavior otherwise.
 */
export function createProvider(deps: ProviderDeps, keys: JWK[]): Provider {
  const provider = new Provider(deps.issuer, createConfiguration(deps, keys));
  // Behind a proxy the library must trust the scheme that http/request-guards.ts has set.
  provider.proxy = true;
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: Client, presented: string) {
      const { clientSecret: newest, previous_secret_hash: previous, previous_secret_expires_at } = this;
      return isClientSecret({ newest, previous, previousExpiresAt: previous_secret_expires_at }, presented, deps.now());
    },
  });
  // token-claims.ts has limited the requested claims before they were stored, so no grant lists them.
  Object.defineProperty(provider.Grant.prototype, 'getOIDCClaimsFiltered', {
    value: (names: Iterable<string>) => [...names],
  });
  if (deps.development) allowLocalImplicitClients(provider);
  return provider;
}

/** The library rejects http and localhost addresses for `id_token` clients; development has no others. */
function allowLocalImplicitClients(provider: Provider): void {
  // The library documents this override; its types lack the property.
  const schema: { prototype: { invalidate(message: string, code?: string): void } } = Reflect.get(
    provider.Client,
    'Schema',
  );
  const { invalidate } = schema.prototype;
  schema.prototype.invalidate = function (message, code) {
    if (code === 'implicit-force-https' || code === 'implicit-forbid-localhost') return;
    invalidate.call(this, message, code);
  };
}
