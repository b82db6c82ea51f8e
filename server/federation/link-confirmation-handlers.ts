import { LinkConfirmationPage } from '../../views/federation/link-confirmation-page.tsx';
import { continuationFromQuery, HttpError, type RequestContext } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { fullyAuthenticatedAt } from '../sessions/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { lockUser, type User } from '../users/index.ts';
import type { FederationDeps } from './deps.ts';
import { isSameIdentity } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider } from './providers.ts';
import { linkOrKeep } from './required-second-factor.ts';
import { linkConfirmationPath, linkConfirmationUrl, loginPageUrl } from './sign-in-notices.ts';

interface PendingLinkContext {
  offer: PendingLink;
  provider: Provider;
  /** The user to whom it is offered. They have presented all required factors after the offer was made. */
  user: User;
}

/**
 * The browser's pending link, once its user has proven the account in this browser (`security.md`, rule 15): with every
 * factor, and after the offer was made, so that an offer that was planted in a signed-in browser needs more than a
 * click.
 * @returns undefined: the visitor was redirected to a page for that, or there is nothing to decide
 */
async function getPendingLink(r: RequestContext, deps: FederationDeps): Promise<PendingLinkContext | undefined> {
  const offer = await deps.offers.current(r.req);
  if (offer) r.belongToRequest(`/${offer.errand}`);
  const provider = offer && deps.providers.byId(offer.identity.provider);
  if (!offer || !provider) {
    // Expired, or never made: the start page decides what comes next.
    r.redirect('/');
    return undefined;
  }
  const found = await findProvenUser(r, deps, offer);
  if (found.kind === 'proven') return { offer, provider, user: found.user };
  r.redirect(found.address);
  return undefined;
}

type ProvenUser = { kind: 'proven'; user: User } | { kind: 'unproven'; address: string };

/** The user of the pending link; or the next address, if they have not proven the account. */
async function findProvenUser(r: RequestContext, deps: FederationDeps, offer: PendingLink): Promise<ProvenUser> {
  const unproven = (address: string): ProvenUser => ({ kind: 'unproven', address });
  const member = await deps.sessions.getCurrentUser(r.req);
  if (!member) return unproven(linkConfirmationUrl(offer));
  const { user, session } = member;
  if (user.id !== offer.userId) {
    if (session.authTimeMs <= offer.offeredAtMs)
      return unproven(linkConfirmationUrl(offer, { at: '/', forceAuth: true }));
    // A user who signs in to another account continues with that one; nothing is linked.
    await deps.offers.clear(r);
    return unproven(deps.nextRedirect(user, continuationFromQuery(offer.errand, deps.publicUrl)));
  }
  const shownAtMs = fullyAuthenticatedAt(user, session);
  if (shownAtMs === undefined || shownAtMs <= offer.offeredAtMs)
    return unproven(linkConfirmationUrl(offer, { at: '/re-authenticate' }));
  return { kind: 'proven', user };
}

/** GET /federation/link */
export async function showLinkConfirmation(r: RequestContext, deps: FederationDeps): Promise<void> {
  const pendingLink = await getPendingLink(r, deps);
  if (!pendingLink) return;
  const { offer, provider, user } = pendingLink;
  const { identity } = offer;
  const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
  const about = offer.linkId === undefined ? ('linkConfirmation' as const) : ('keepLink' as const);
  r.render(
    LinkConfirmationPage,
    { action: linkConfirmationPath, about, provider: provider.name, email: user.email, there },
    {
      title: (ctx) => ctx.t(`federation.${about}.title`, { provider: provider.name }),
      address: linkConfirmationPath,
    },
  );
}

type ConfirmLinkResult = 'linked' | 'linked-elsewhere' | 'not-found';

async function confirmLink(
  r: RequestContext,
  deps: FederationDeps,
  { offer, provider, user }: PendingLinkContext,
): Promise<ConfirmLinkResult> {
  const { database, outbox, providers, now } = deps;
  const from = r.origin;
  try {
    const created = await database.transaction(async (trx): Promise<ConfirmLinkResult> => {
      const current = await lockUser(trx, user);
      if (!current) return 'not-found';
      if (!(await linkOrKeep(trx, providers, { ...offer, nowMs: now() }))) return 'linked-elsewhere';
      await notifySecurityChange(trx, deps, { user: current, change: 'provider-linked', from, detail: provider.name });
      return 'linked';
    });
    if (created === 'linked') outbox.wake();
    return created;
  } catch (error) {
    if (isSameIdentity(error)) return 'linked-elsewhere';
    throw error;
  }
}

/** POST /federation/link: Link, or Not now; both continue to the visitor's target. */
export async function submitLinkConfirmation(r: RequestContext, deps: FederationDeps): Promise<void> {
  const act = r.field('act');
  if (act !== 'link' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'unknown form action' });
  const pendingLink = await getPendingLink(r, deps);
  if (!pendingLink) return;
  const { offer, provider, user } = pendingLink;
  const created = act === 'link' ? await confirmLink(r, deps, pendingLink) : 'declined';
  r.log.info(
    { act: 'federation-offer', provider: provider.id, outcome: toPublicOutcome(created) },
    'account link confirmation',
  );
  if (created === 'not-found') throw new HttpError('unauthorized', { detail: 'user has changed' });
  await deps.offers.clear(r);
  if (created === 'linked-elsewhere')
    return r.redirect(loginPageUrl({ intent: { kind: 'link' }, continuation: '' }, provider, created));
  const current = (await deps.sessions.getCurrentUser(r.req))?.user ?? user;
  r.redirect(deps.nextRedirect(current, continuationFromQuery(offer.errand, deps.publicUrl)));
}
