import type { Request } from 'express';
import { readQueryParam } from '../http/index.ts';
import type { FederationAttempt } from './attempts.ts';
import { type RefusalKind, refusalKinds } from './identity.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider, Providers } from './providers.ts';

const prefix = 'federation-';
/** Where a link that is offered is made. */
export const linkConfirmationPath = '/federation/link';
/** Where somebody says whether the account is theirs to which a subject is linked that may have changed hands. */
export const reusedPath = '/federation/link/account';

/** Where nobody was refused: the member has to sign in first; they are signed out here, but still signed in there. */
const noticeKinds = ['offer', 'prove', 'signed-out', ...refusalKinds] as const;
export type SignInNotice = (typeof noticeKinds)[number];

/** Who was about to become a member and has an account, or may not have one, has to sign in. */
const forMembers: readonly RefusalKind[] = ['email-taken', 'sign-up-closed', 'disabled'];

/** Where a way that ended without success leads back to: its errand, and the plan of its sign-up, are alive still. */
export function loginPageUrl(
  attempt: Pick<FederationAttempt, 'intent' | 'continuation'> | undefined,
  provider: Pick<Provider, 'id'>,
  why: RefusalKind,
): string {
  const notice = { notice: `${prefix}${why}`, provider: provider.id };
  if (attempt?.intent.kind === 'link') return `/settings/providers?${new URLSearchParams(notice)}`;
  const parameters = new URLSearchParams(attempt?.continuation ?? '');
  for (const [name, value] of Object.entries(notice)) parameters.set(name, value);
  if (attempt?.intent.kind === 're-authenticate') return `/re-authenticate?${parameters}`;
  if (attempt?.intent.kind !== 'sign-in' || attempt.intent.at === undefined || forMembers.includes(why))
    return `/?${parameters}`;
  const plan = parameters.get('planHash');
  parameters.delete('planHash');
  return `${plan === null ? '/signup' : `/signup/plan/${encodeURIComponent(plan)}`}?${parameters}`;
}

/** Where a member signs in to whom a link is offered (link-confirmation-handlers.ts); the offer knows where the visitor was going. */
export const linkConfirmationUrl = (
  { identity, linkId, errand: continuation }: Pick<PendingLink, 'identity' | 'linkId' | 'errand'>,
  { at, forceAuth }: { at: '/' | '/re-authenticate'; forceAuth?: true } = { at: '/' },
) => {
  const notice = { notice: `${prefix}${linkId === undefined ? 'offer' : 'prove'}`, provider: identity.provider };
  // Only named: the sign-in goes to the offer first, and the offer goes on to the request.
  const pending = new URLSearchParams(continuation).get('authorization_code');
  return `${at}?${new URLSearchParams({
    redirect: linkConfirmationPath,
    ...notice,
    ...(pending && { pending }),
    ...(forceAuth && { forceAuth: '1' }),
  })}`;
};

/** Where a member comes to who is signed out here, and still signed in at the provider. */
export const signedOutUrl = (provider: Pick<Provider, 'id'>) =>
  `/?${new URLSearchParams({ notice: `${prefix}signed-out`, provider: provider.id })}`;

/** What the address of a page says of a way that ended. Anybody may write such an address: it only chooses a text. */
export function readNotice(
  req: Request,
  providers: Pick<Providers, 'byId'>,
): { why: SignInNotice; provider: Provider } | undefined {
  const claims = readQueryParam(req, 'notice') ?? '';
  const why = noticeKinds.find((kind) => claims === `${prefix}${kind}`);
  const provider = providers.byId(readQueryParam(req, 'provider') ?? '');
  return why && provider && { why, provider };
}
