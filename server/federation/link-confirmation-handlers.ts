import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { LinkConfirmationPage } from '../../views/federation/link-confirmation-page.tsx';
import { belongToRequest, continuationFromQuery, HttpError, readFormField } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { fullyAuthenticatedAt, getRequestOrigin } from '../sessions/index.ts';
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
async function getPendingLink(
  deps: FederationDeps,
  req: Request,
  res: Response,
): Promise<PendingLinkContext | undefined> {
  const { offers, sessions, providers } = deps;
  const offer = await offers.current(req);
  if (offer) belongToRequest(deps.cookies, { req, res }, `/${offer.errand}`);
  const provider = offer && providers.byId(offer.identity.provider);
  if (!offer || !provider) {
    // Expired, or never made: the start page decides what comes next.
    res.redirect(303, '/');
    return undefined;
  }
  const member = await sessions.getCurrentUser(req);
  if (!member) {
    res.redirect(303, linkConfirmationUrl(offer));
    return undefined;
  }
  const { user, session } = member;
  if (user.id !== offer.userId) {
    if (session.authTimeMs <= offer.offeredAtMs) {
      res.redirect(303, linkConfirmationUrl(offer, { at: '/', forceAuth: true }));
    } else {
      // A user who signs in to another account continues with that one; nothing is linked.
      await offers.clear(req, res);
      res.redirect(303, deps.nextRedirect(user, continuationFromQuery(offer.errand, deps.publicUrl)));
    }
    return undefined;
  }
  const shownAtMs = fullyAuthenticatedAt(user, session);
  if (shownAtMs === undefined || shownAtMs <= offer.offeredAtMs) {
    res.redirect(303, linkConfirmationUrl(offer, { at: '/re-authenticate' }));
    return undefined;
  }
  return { offer, provider, user };
}

/** GET /federation/link */
export function showLinkConfirmation(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const pendingLink = await getPendingLink(deps, req, res);
    if (!pendingLink) return;
    const { offer, provider, user } = pendingLink;
    const { identity } = offer;
    const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
    const about = offer.linkId === undefined ? ('linkConfirmation' as const) : ('keepLink' as const);
    const view = { action: linkConfirmationPath, about, provider: provider.name, email: user.email, there };
    deps.pages.send(req, res, 200, (ctx) => createElement(LinkConfirmationPage, { ctx, ...view }), {
      title: (ctx) => ctx.t(`federation.${about}.title`, { provider: provider.name }),
      address: linkConfirmationPath,
    });
  };
}

type ConfirmLinkResult = 'linked' | 'linked-elsewhere' | 'not-found';

async function confirmLink(
  deps: FederationDeps,
  req: Request,
  { offer, provider, user }: PendingLinkContext,
): Promise<ConfirmLinkResult> {
  const { database, outbox, providers, now } = deps;
  try {
    const created = await database.transaction(async (trx): Promise<ConfirmLinkResult> => {
      const current = await lockUser(trx, user);
      if (!current) return 'not-found';
      if (!(await linkOrKeep(trx, providers, { ...offer, nowMs: now() }))) return 'linked-elsewhere';
      await notifySecurityChange(trx, deps, {
        user: current,
        change: 'provider-linked',
        from: getRequestOrigin(req),
        detail: provider.name,
      });
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
export function submitLinkConfirmation(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const act = readFormField(req, 'act');
    if (act !== 'link' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'unknown form action' });
    const pendingLink = await getPendingLink(deps, req, res);
    if (!pendingLink) return;
    const { offer, provider, user } = pendingLink;
    const created = act === 'link' ? await confirmLink(deps, req, pendingLink) : 'declined';
    deps.log.info(
      { act: 'federation-offer', provider: provider.id, outcome: toPublicOutcome(created) },
      'account link confirmation',
    );
    if (created === 'not-found') throw new HttpError('unauthorized', { detail: 'user has changed' });
    await deps.offers.clear(req, res);
    if (created === 'linked-elsewhere') {
      return res.redirect(303, loginPageUrl({ intent: { kind: 'link' }, continuation: '' }, provider, created));
    }
    const current = (await deps.sessions.getCurrentUser(req))?.user ?? user;
    res.redirect(303, deps.nextRedirect(current, continuationFromQuery(offer.errand, deps.publicUrl)));
  };
}
