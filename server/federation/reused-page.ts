import { ReusedPage } from '../../views/federation/reused-page.tsx';
import { HttpError, type RequestContext } from '../http/index.ts';
import { notifySecurityChange } from '../messages/index.ts';
import { findUser, findUserByIdentifier } from '../users/index.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { FederationError, wholeName } from './identity.ts';
import { removeReusedIdentity } from './identity-store.ts';
import type { PendingLink } from './pending-links.ts';
import type { Provider } from './providers.ts';
import { decide } from './provisioning-decision.ts';
import { redirectRefused } from './refusals.ts';
import { updateRequiredSecondFactor } from './required-second-factor.ts';
import { proofPageAfter, reusedPath } from './sign-in-notices.ts';

interface Reused {
  offer: PendingLink & { linkId: string };
  provider: Provider;
}

/** @returns undefined if this browser has none (any more): the start page decides what comes next */
async function findReused(r: RequestContext, deps: FederationDeps): Promise<Reused | undefined> {
  const offer = await deps.offers.current(r.req);
  if (offer) r.belongToRequest(`/${offer.errand}`);
  const provider = offer && deps.providers.byId(offer.identity.provider);
  if (offer?.linkId !== undefined && provider) return { offer: { ...offer, linkId: offer.linkId }, provider };
  r.redirect('/');
  return undefined;
}

/**
 * GET /federation/link/account: a visitor came with a linked subject, but another address and name. The page reveals
 * nothing about the account: the visitor may be another person than its user.
 */
export async function showReused(r: RequestContext, deps: FederationDeps): Promise<void> {
  const reused = await findReused(r, deps);
  if (!reused) return;
  const { offer, provider } = reused;
  const there = { name: wholeName(offer.identity), email: offer.identity.email ?? '' };
  r.render(
    ReusedPage,
    { action: reusedPath, provider: provider.name, there, backHref: '/' },
    { title: (ctx) => ctx.t('federation.reused.title', { provider: provider.name }), address: reusedPath },
  );
}

/** POST: the visitor says that the account is theirs, and must prove it; or that it is not, and the link is removed. */
export async function decideReused(r: RequestContext, deps: FederationDeps): Promise<void> {
  const act = r.field('act');
  if (act !== 'mine' && act !== 'new') throw new HttpError('badRequest', { detail: 'unknown form action' });
  const reused = await findReused(r, deps);
  if (!reused) return;
  const { offer, provider } = reused;
  if (act === 'mine') return r.redirect(proofPageAfter(offer));
  try {
    await startAnew(r, deps, reused);
  } catch (error) {
    const attempt = { intent: { kind: 'sign-in' }, continuation: offer.errand } as const;
    redirectRefused(r, deps, { provider, attempt, error });
  }
}

/** @throws {FederationError} */
async function startAnew(r: RequestContext, deps: FederationDeps, { offer, provider }: Reused): Promise<void> {
  const { identity, errand: continuation, remember = false } = offer;
  const { email } = identity;
  const sameAddress = email === undefined ? undefined : await findUserByIdentifier(deps.database.db, { email });
  const decision = decide(identity, provider, { link: undefined, linked: undefined, sameAddress });
  if (decision.kind === 'refuse')
    throw new FederationError(decision.why, 'refused by the provisioning rule without the link');
  // The address belongs to that account, so no other user can be created with it.
  if (decision.kind === 'offer' && decision.user.id === offer.userId) return r.redirect(proofPageAfter(offer));
  await removeReused(r, deps, { offer, provider });
  await deps.offers.clear(r);
  const attempt = { intent: { kind: 'sign-in' }, continuation, remember } as const;
  await handleIdentity(r, deps, { provider, identity, attempt });
}

/** The user keeps the account with all other sign-in methods, and gets a mail. */
async function removeReused(r: RequestContext, deps: FederationDeps, { offer, provider }: Reused): Promise<void> {
  const { database, outbox, providers, log, now } = deps;
  const { userId, linkId: id, offeredAtMs: unusedSinceMs } = offer;
  const removed = await database.transaction(async (trx) => {
    if (!(await removeReusedIdentity(trx, { userId, id, unusedSinceMs }))) return false;
    await updateRequiredSecondFactor(trx, providers, { userId, nowMs: now() });
    const user = await findUser(trx, userId);
    const change = { change: 'provider-removed', from: r.origin, detail: provider.name } as const;
    if (user) await notifySecurityChange(trx, deps, { user, ...change });
    return true;
  });
  if (removed) outbox.wake();
  log.info({ act: 'federation-reused', provider: provider.id, removed }, 'provider subject reassigned');
}
