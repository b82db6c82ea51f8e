import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { OfferPage } from '../../views/federation/offer-page.tsx';
import { holdMember, type User } from '../account/index.ts';
import { belongToRequest, errandOfSearch, field, HttpError } from '../http/index.ts';
import { tellOfChange } from '../messages/index.ts';
import { allShownAt, originOf } from '../session/index.ts';
import type { FederationDeps } from './deps.ts';
import { isSameIdentity } from './identity-store.ts';
import { linkOrKeep } from './linking.ts';
import { offerPath, wayBack, wayToOffer } from './notices.ts';
import type { Offer } from './offers.ts';
import type { Provider } from './providers.ts';

interface Standing {
  offer: Offer;
  provider: Provider;
  /** The member to whom it is offered; they have shown all that is asked of them, later than it was offered. */
  user: User;
}

/**
 * The browser's offer, once its member has proven the account in this browser (`security.md`, rule 15): with every factor, and
 * after the offer was made, so that one that was planted in a browser that is signed in already asks for more than a click.
 * @returns undefined: the visitor is on their way to where they can, or there is nothing to decide
 */
async function standingOf(deps: FederationDeps, req: Request, res: Response): Promise<Standing | undefined> {
  const { offers, sessions, providers } = deps;
  const offer = await offers.of(req);
  if (offer) belongToRequest(deps.cookies, req, res, `/${offer.errand}`);
  const provider = offer && providers.byId(offer.identity.provider);
  if (!offer || !provider) {
    // Over, or never made: the start page knows where members go.
    res.redirect(303, '/');
    return undefined;
  }
  const member = await sessions.member(req);
  if (!member) {
    res.redirect(303, wayToOffer(offer));
    return undefined;
  }
  const { user, session } = member;
  if (user.id !== offer.userId) {
    if (session.authTimeMs <= offer.offeredAtMs) {
      res.redirect(303, wayToOffer(offer, { at: '/', forceAuth: true }));
    } else {
      // Whoever signs in to another account goes on with that one; nothing is linked.
      await offers.end(req, res);
      res.redirect(303, deps.wayOn(user, errandOfSearch(offer.errand, deps.publicUrl)));
    }
    return undefined;
  }
  const shownAtMs = allShownAt(user, session);
  if (shownAtMs === undefined || shownAtMs <= offer.offeredAtMs) {
    res.redirect(303, wayToOffer(offer, { at: '/re-authenticate' }));
    return undefined;
  }
  return { offer, provider, user };
}

/** GET /federation/link */
export function showOffer(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const standing = await standingOf(deps, req, res);
    if (!standing) return;
    const { offer, provider, user } = standing;
    const { identity } = offer;
    const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
    const about = offer.linkId === undefined ? ('linkOffer' as const) : ('keepLink' as const);
    const shown = { action: offerPath, about, provider: provider.name, email: user.email, there };
    deps.pages.send(req, res, 200, (ctx) => createElement(OfferPage, { ctx, ...shown }), {
      title: (ctx) => ctx.t(`federation.${about}.title`, { provider: provider.name }),
      address: offerPath,
    });
  };
}

type Made = 'linked' | 'linked-elsewhere' | 'gone';

async function make(deps: FederationDeps, req: Request, { offer, provider, user }: Standing): Promise<Made> {
  const { database, outbox, providers, now } = deps;
  try {
    const made = await database.transaction(async (trx): Promise<Made> => {
      const current = await holdMember(trx, user);
      if (!current) return 'gone';
      if (!(await linkOrKeep(trx, providers, offer, now()))) return 'linked-elsewhere';
      await tellOfChange(trx, deps, {
        user: current,
        change: 'provider-linked',
        from: originOf(req),
        detail: provider.name,
      });
      return 'linked';
    });
    if (made === 'linked') outbox.wake();
    return made;
  } catch (error) {
    if (isSameIdentity(error)) return 'linked-elsewhere';
    throw error;
  }
}

/** POST /federation/link: Link, or Not now; either way on to where the visitor was going. */
export function decideOffer(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const act = field(req, 'act');
    if (act !== 'link' && act !== 'not-now') throw new HttpError('badRequest', { detail: 'act is none of this page' });
    const standing = await standingOf(deps, req, res);
    if (!standing) return;
    const { offer, provider, user } = standing;
    const made = act === 'link' ? await make(deps, req, standing) : 'declined';
    deps.log.info({ act: 'federation-offer', provider: provider.id, outcome: made }, 'a link that was offered');
    if (made === 'gone') throw new HttpError('unauthorized', { detail: 'the member has changed meanwhile' });
    await deps.offers.end(req, res);
    if (made === 'linked-elsewhere') {
      return res.redirect(
        303,
        wayBack({ intent: { kind: 'link', userId: '', sessionIdHash: '' }, errand: '' }, provider, made),
      );
    }
    const current = (await deps.sessions.member(req))?.user ?? user;
    res.redirect(303, deps.wayOn(current, errandOfSearch(offer.errand, deps.publicUrl)));
  };
}
