import type { RequestHandler } from 'express';
import { HttpError, readQueryParam } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import { requireProvider } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import type { Provider } from './providers.ts';

const hashes = new WeakMap<Provider, string>();

function logoHash(provider: Provider, logo: string): string {
  const hash = hashes.get(provider) ?? sha256(logo).slice(0, 8);
  hashes.set(provider, hash);
  return hash;
}

/** Its address, named after its content so that browsers may keep it for ever. */
export const logoUrl = (provider: Provider): string | undefined =>
  provider.logo && `/federation/${provider.id}/logo?v=${logoHash(provider, provider.logo)}`;

/** GET /federation/<provider>/logo: what is configured, which is nobody's document: opened by itself it runs and loads nothing. */
export function serveLogo(deps: Pick<FederationDeps, 'providers'>): RequestHandler {
  return (req, res) => {
    const provider = requireProvider(deps, req);
    const [, type, base64] = provider.logo?.match(/^data:([^;,]+);base64,(.*)$/s) ?? [];
    if (provider.logo === undefined || type === undefined || base64 === undefined) throw new HttpError('notFound');
    res.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    if (readQueryParam(req, 'v') === logoHash(provider, provider.logo)) {
      res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
    }
    res.type(type).send(Buffer.from(base64, 'base64'));
  };
}
