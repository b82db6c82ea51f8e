import { HttpError, type RequestContext } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import type { FederationDeps } from './deps.ts';
import type { Provider } from './providers.ts';
import { requireProvider } from './require-provider.ts';

const hashes = new WeakMap<Provider, string>();

function logoHash(provider: Provider, logo: string): string {
  const hash = hashes.get(provider) ?? sha256(logo).slice(0, 8);
  hashes.set(provider, hash);
  return hash;
}

/** The address contains a hash of the content, so that browsers may cache it without expiry. */
export const logoUrl = (provider: Provider): string | undefined =>
  provider.logo && `/federation/${provider.id}/logo?v=${logoHash(provider, provider.logo)}`;

/**
 * GET /federation/<provider>/logo: a configured image. Its headers prevent it from running or loading anything if it is
 * opened as a document.
 */
export function serveLogo(r: RequestContext, deps: Pick<FederationDeps, 'providers'>): void {
  const provider = requireProvider(r, deps);
  const [, type, base64] = provider.logo?.match(/^data:([^;,]+);base64,(.*)$/s) ?? [];
  if (provider.logo === undefined || type === undefined || base64 === undefined) throw new HttpError('notFound');
  r.res.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (r.query('v') === logoHash(provider, provider.logo)) {
    r.res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  }
  r.res.type(type).send(Buffer.from(base64, 'base64'));
}
