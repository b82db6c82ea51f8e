import type { Request } from 'express';
import { readQueryParam, type T } from '../http/index.ts';
import type { FederationAttempt } from './attempts.ts';
import { type RefusalKind, refusalKinds } from './identity.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider, Providers } from './providers.ts';

const prefix = 'federation-';
/** The page that makes a pending link. */
export const linkConfirmationPath = '/federation/link';
/** The page that asks whether the account of a possibly reassigned subject belongs to the visitor. */
export const reusedPath = '/federation/link/account';

/** Notices without a refusal: the user must sign in first; or is signed out here, but still signed in there. */
const noticeKinds = ['offer', 'prove', 'signed-out', ...refusalKinds] as const;
type SignInNotice = (typeof noticeKinds)[number];

/** A visitor with these refusals already has an account, or may not create one, and must sign in. */
const forMembers: readonly RefusalKind[] = ['email-taken', 'sign-up-closed', 'disabled'];

/**
 * The page to which an unsuccessful sign-in returns: its continuation, and the plan of its sign-up, are still valid.
 */
export function loginPageUrl(
  attempt: { intent: FederationAttempt['intent'] | { kind: 'link' }; continuation: string } | undefined,
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

/**
 * The sign-in page of a user with a pending link (link-confirmation-handlers.ts); the pending link has the visitor's
 * target.
 */
export const linkConfirmationUrl = (
  { identity, linkId, errand: continuation }: Pick<PendingLink, 'identity' | 'linkId' | 'errand'>,
  { at, forceAuth }: { at: '/' | '/re-authenticate'; forceAuth?: true } = { at: '/' },
) => {
  const notice = { notice: `${prefix}${linkId === undefined ? 'offer' : 'prove'}`, provider: identity.provider };
  // Only named: the sign-in continues to the pending link first, and that to the request.
  const pending = new URLSearchParams(continuation).get('authorization_code');
  return `${at}?${new URLSearchParams({
    redirect: linkConfirmationPath,
    ...notice,
    ...(pending && { pending }),
    ...(forceAuth && { forceAuth: '1' }),
  })}`;
};

/** The page for a user who is signed out here, and still signed in at the provider. */
export const signedOutUrl = (provider: Pick<Provider, 'id'>) =>
  `/?${new URLSearchParams({ notice: `${prefix}signed-out`, provider: provider.id })}`;

/** The notice in the address of a page. Anyone can write such an address: it only selects a text. */
export function readNotice(
  req: Request,
  providers: Pick<Providers, 'find'>,
): { why: SignInNotice; provider: Provider } | undefined {
  const claims = readQueryParam(req, 'notice') ?? '';
  const why = noticeKinds.find((kind) => claims === `${prefix}${kind}`);
  const provider = providers.find(readQueryParam(req, 'provider') ?? '');
  return why && provider && { why, provider };
}

/** The notice about a sign-in that ended: an error or an information. */
export function noticeText(
  t: T,
  { why, provider }: { why: SignInNotice; provider: Pick<Provider, 'name'> },
): { kind: 'error' | 'info'; text: string; support?: boolean } {
  const values = { provider: provider.name };
  if (why === 'offer') return { kind: 'info', text: t('federation.linkConfirmation.signInFirst', values) };
  if (why === 'prove') return { kind: 'info', text: t('federation.prove', values) };
  if (why === 'signed-out') return { kind: 'info', text: t('federation.signedOut', values) };
  const text = t(`federation.notices.${why}`, values);
  return { kind: why === 'cancelled' ? 'info' : 'error', text, support: why === 'not-set-up' };
}
