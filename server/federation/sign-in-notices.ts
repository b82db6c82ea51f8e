import { AddressWithNotice, type Continuation, type RequestContext, type T } from '../http/index.ts';
import type { FederationAttempt } from './attempts.ts';
import { type RefusalKind, refusalKinds } from './identity.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider, Providers } from './providers.ts';

const linkedAccountsPath = '/settings/providers';
/** The page that makes a pending link. */
export const linkConfirmationPath = '/federation/link';
/** The page that asks whether the account of a possibly reassigned subject belongs to the visitor. */
export const reusedPath = '/federation/link/account';

/** Notices without a refusal: the user must sign in first; or is signed out here, but still signed in there. */
const noticeKinds = ['offer', 'prove', 'signed-out', ...refusalKinds] as const;
type SignInNotice = (typeof noticeKinds)[number];

export interface ProviderNotice {
  why: SignInNotice;
  provider: Provider;
}

/** A visitor with these refusals already has an account, or may not create one, and must sign in. */
const forMembers: readonly RefusalKind[] = ['email-taken', 'sign-up-closed', 'disabled'];

/**
 * The page to which an unsuccessful sign-in returns: its continuation, and the plan of its sign-up, are still valid.
 */
export function loginPageAfter(
  attempt: { intent: FederationAttempt['intent'] | { kind: 'link' }; continuation: string } | undefined,
  provider: Pick<Provider, 'id'>,
  why: RefusalKind,
): AddressWithNotice {
  const withNotice = (address: string) => new AddressWithNotice(address, toName(why, provider.id));
  if (attempt?.intent.kind === 'link') return withNotice(linkedAccountsPath);
  const parameters = new URLSearchParams(attempt?.continuation ?? '');
  const at = (path: string) => withNotice(parameters.size === 0 ? path : `${path}?${parameters}`);
  if (attempt?.intent.kind === 're-authenticate') return at('/re-authenticate');
  if (attempt?.intent.kind !== 'sign-in' || attempt.intent.at === undefined || forMembers.includes(why)) return at('/');
  const plan = parameters.get('planHash');
  parameters.delete('planHash');
  return at(plan === null ? '/signup' : `/signup/plan/${encodeURIComponent(plan)}`);
}

/** The list of linked accounts after a new link. */
export const linkedAccountsAfterLink = () => new AddressWithNotice(linkedAccountsPath, 'providers:linked');

/**
 * The sign-in page of a user with a pending link (link-confirmation-handlers.ts); the pending link has the visitor's
 * target.
 */
export const proofPageAfter = (
  { identity, linkId, errand: continuation }: Pick<PendingLink, 'identity' | 'linkId' | 'errand'>,
  { at, forceAuth }: { at: '/' | '/re-authenticate'; forceAuth?: true } = { at: '/' },
) => {
  // Only named: the sign-in continues to the pending link first, and that to the request.
  const pending = new URLSearchParams(continuation).get('authorization_code');
  const query = new URLSearchParams({
    redirect: linkConfirmationPath,
    ...(pending && { pending }),
    ...(forceAuth && { forceAuth: '1' }),
  });
  return new AddressWithNotice(`${at}?${query}`, toName(linkId === undefined ? 'offer' : 'prove', identity.provider));
};

/** Tests whether the sign-in leads to the pending link. */
export const leadsToLink = ({ returnTo }: Continuation): boolean =>
  returnTo !== undefined && new URL(returnTo).pathname === linkConfirmationPath;

/** The page for a user who is signed out here, and still signed in at the provider. */
export const startPageSignedOut = ({ id }: Pick<Provider, 'id'>) =>
  new AddressWithNotice('/', toName('signed-out', id));

/** The name of a notice: a provider's id has no slash. */
const toName = (why: SignInNotice, provider: string) => `federation:${why}/${provider}`;

/** The result at a provider, which this browser has just come from. */
export const takeSignInNotice = (
  r: Pick<RequestContext, 'takeNotice'>,
  providers: Pick<Providers, 'find'>,
): ProviderNotice | undefined =>
  r.takeNotice((name) => {
    const [kind, id = ''] = name.split('/', 2);
    const why = noticeKinds.find((one) => kind === `federation:${one}`);
    const provider = providers.find(id);
    return why && provider && { why, provider };
  });

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
