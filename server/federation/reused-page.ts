import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { ReusedPage } from '../../views/federation/reused-page.tsx';
import { belongToRequest, HttpError, readFormField } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { getRequestOrigin } from '../sessions/index.ts';
import { findUser, findUserByIdentifier } from '../users/index.ts';
import { logRefusal } from './callback.ts';
import { completeFederatedSignIn } from './complete-federated-sign-in.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError, wholeName } from './identity.ts';
import { removeReusedIdentity } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider } from './providers.ts';
import { decide } from './provisioning-decision.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';
import { linkConfirmationUrl, loginPageUrl, reusedPath } from './sign-in-notices.ts';

interface Reused {
  offer: PendingLink & { linkId: string };
  provider: Provider;
}

/** @returns undefined if this browser has none (any more): the start page decides what comes next */
async function findReused(deps: FederationDeps, req: Request, res: Response): Promise<Reused | undefined> {
  const offer = await deps.offers.current(req);
  if (offer) belongToRequest(deps.cookies, { req, res }, `/${offer.errand}`);
  const provider = offer && deps.providers.byId(offer.identity.provider);
  if (offer?.linkId !== undefined && provider) return { offer: { ...offer, linkId: offer.linkId }, provider };
  res.redirect(303, '/');
  return undefined;
}

/**
 * GET /federation/link/account: a visitor came with a linked subject, but another address and name. The page reveals
 * nothing about the account: the visitor may be another person than its user.
 */
export function showReused(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const reused = await findReused(deps, req, res);
    if (!reused) return;
    const { offer, provider } = reused;
    const there = { name: wholeName(offer.identity), email: offer.identity.email ?? '' };
    const view = { action: reusedPath, provider: provider.name, there, backHref: '/' };
    deps.pages.send(req, res, 200, (ctx) => createElement(ReusedPage, { ctx, ...view }), {
      title: (ctx) => ctx.t('federation.reused.title', { provider: provider.name }),
      address: reusedPath,
    });
  };
}

/** POST: the visitor says that the account is theirs, and must prove it; or that it is not, and the link is removed. */
export function decideReused(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const act = readFormField(req, 'act');
    if (act !== 'mine' && act !== 'new') throw new HttpError('badRequest', { detail: 'unknown form action' });
    const reused = await findReused(deps, req, res);
    if (!reused) return;
    const { offer, provider } = reused;
    if (act === 'mine') return res.redirect(303, linkConfirmationUrl(offer));
    try {
      await startAnew(deps, req, res, reused);
    } catch (error) {
      const { kind } = logRefusal(deps, provider, error);
      res.redirect(303, loginPageUrl({ intent: { kind: 'sign-in' }, continuation: offer.errand }, provider, kind));
    }
  };
}

/** @throws {FederationError} */
async function startAnew(
  deps: FederationDeps,
  req: Request,
  res: Response,
  { offer, provider }: Reused,
): Promise<void> {
  const { identity, errand: continuation, remember = false } = offer;
  const { email } = identity;
  const sameAddress = email === undefined ? undefined : await findUserByIdentifier(deps.database.db, { email });
  const decision = decide(identity, provider, { link: undefined, linked: undefined, sameAddress });
  if (decision.kind === 'refuse')
    throw new FederationError(decision.why, 'refused by the provisioning rule without the link');
  // The address belongs to that account, so no other user can be created with it.
  if (decision.kind === 'offer' && decision.user.id === offer.userId)
    return res.redirect(303, linkConfirmationUrl(offer));
  await removeReused(deps, req, { offer, provider });
  await deps.offers.clear(req, res);
  await completeFederatedSignIn(deps, req, res, {
    provider,
    identity,
    attempt: { intent: { kind: 'sign-in' }, continuation, remember },
  });
}

/** The user keeps the account with all other sign-in methods, and gets a mail. */
async function removeReused(deps: FederationDeps, req: Request, { offer, provider }: Reused): Promise<void> {
  const { database, outbox, providers, log, now } = deps;
  const { userId, linkId: id, offeredAtMs: unusedSinceMs } = offer;
  const removed = await database.transaction(async (trx) => {
    if (!(await removeReusedIdentity(trx, { userId, id, unusedSinceMs }))) return false;
    await updateRequiredSecondFactor(trx, providers, { userId, nowMs: now() });
    const member = await findUser(trx, userId);
    if (member)
      await notifySecurityChange(trx, deps, {
        user: member,
        change: 'provider-removed',
        from: getRequestOrigin(req),
        detail: provider.name,
      });
    return true;
  });
  if (removed) outbox.wake();
  log.info({ act: 'federation-reused', provider: provider.id, removed }, 'provider subject reassigned');
}
