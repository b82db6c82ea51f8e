import { HttpError, type RequestContext } from '../http/index.ts';
import type { Provider, Providers } from './providers.ts';

/** The provider in a path. @throws {HttpError} notFound */
export function requireProvider(r: RequestContext, { providers }: { providers: Pick<Providers, 'find'> }): Provider {
  const provider = providers.find(r.param('provider'));
  if (!provider) throw new HttpError('notFound');
  return provider;
}
