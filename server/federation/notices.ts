import type { Request } from 'express';
import { query } from '../http/index.ts';
import type { Attempt } from './attempts.ts';
import { type RefusalKind, refusalKinds } from './identity.ts';
import type { Provider, Providers } from './providers.ts';

const prefix = 'federation-';

/** Where a way that ended without success leads back to: its errand is alive still. */
export function wayBack(
  attempt: Pick<Attempt, 'intent' | 'errand'> | undefined,
  provider: Pick<Provider, 'id'>,
  why: RefusalKind,
): string {
  const notice = { notice: `${prefix}${why}`, provider: provider.id };
  if (attempt?.intent.kind === 'link') return `/settings/providers?${new URLSearchParams(notice)}`;
  const parameters = new URLSearchParams(attempt?.errand ?? '');
  for (const [name, value] of Object.entries(notice)) parameters.set(name, value);
  return `${attempt?.intent.kind === 're-authenticate' ? '/re-authenticate' : '/'}?${parameters}`;
}

/** What the address of a page says of a way that ended. Anybody may write such an address: it only chooses a text. */
export function noticeOf(req: Request, providers: Providers): { why: RefusalKind; provider: Provider } | undefined {
  const said = query(req, 'notice') ?? '';
  const why = refusalKinds.find((kind) => said === `${prefix}${kind}`);
  const provider = providers.byId(query(req, 'provider') ?? '');
  return why && provider && { why, provider };
}
