import { LinkConfirmationPage } from '../../views/federation/link-confirmation-page.tsx';
import { type ArrivalName, continuationFromQuery, HttpError, type RequestContext } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { toPublicOutcome } from '../shared/index.ts';
import { lockUser, type User } from '../users/index.ts';
import { transition } from './attempt-state.ts';
import type { FederationDeps } from './deps.ts';
import { isSameIdentity } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider } from './providers.ts';
import { linkOrKeep } from './required-second-factor.ts';
import { linkConfirmationPath, loginPageAfter, proofPageAfter } from './sign-in-notices.ts';

interface PendingLinkContext {
  offer: PendingLink;
  provider: Provider;
  /** The user to whom it is offered. They have presented all required factors after the offer was made. */
  user: User;
}

/** Where a visitor can do what is missing. */
const proofPlaces = {
  'sign-in': { at: '/' },
  owner: { at: '/', forceAuth: true },
  're-authentication': { at: '/re-authenticate' },
} as const;

/**
 * The browser's pending link, once its user has proven the account in this browser (the state `link-proven`).
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
  const current = await deps.sessions.getCurrentUser(r.req);
  const state = transition({ kind: 'link-offered', offer }, { kind: 'link-visited', current });
  switch (state.kind) {
    case 'link-proven':
      return { offer, provider, user: state.user };
    case 'link-unproven':
      r.redirect(proofPageAfter(offer, proofPlaces[state.missing]));
      return undefined;
    case 'link-dropped':
      await deps.offers.clear(r);
      r.redirect(deps.nextRedirect(state.user, continuationFromQuery(offer.errand, deps.publicUrl)));
      return undefined;
  }
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
    return r.redirect(loginPageAfter({ intent: { kind: 'link' }, continuation: '' }, provider, created));
  if (created === 'linked') r.announce('account:linked' satisfies ArrivalName);
  const current = (await deps.sessions.getCurrentUser(r.req))?.user ?? user;
  r.redirect(deps.nextRedirect(current, continuationFromQuery(offer.errand, deps.publicUrl)));
}
