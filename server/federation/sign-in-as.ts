import type { Request, Response } from 'express';
import { findUser, type User } from '../account/index.ts';
import { type Errand, errandOfSearch } from '../http/index.ts';
import type { FederationDeps } from './deps.ts';
import { type Answered, amrOf } from './finish.ts';
import { shownAtOf } from './freshness.ts';
import { FederationRefusal, type UpstreamIdentity } from './identity.ts';
import { type FederatedIdentity, noteIdentityUse } from './identity-store.ts';
import { isOf } from './kinds/person.ts';
import { settleSecondFactor } from './linking.ts';
import { createMember, takeOver } from './new-member.ts';
import { reusedPath, wayToOffer } from './notices.ts';
import type { Offer } from './offers.ts';
import { decide, factsOf } from './provision.ts';

/** How often it is decided anew, where somebody else was quicker: with the same identity or the same address. */
const mostTries = 4;

/** Carries out what `decide` says. @throws {FederationRefusal} */
export async function signInAs(deps: FederationDeps, req: Request, res: Response, answered: Answered): Promise<void> {
  const { provider, identity, attempt } = answered;
  const errand = errandOfSearch(attempt.errand, deps.publicUrl);
  const { lang } = deps.pages.context(req, res);
  const going: Going = { deps, req, res, answered, errand };

  // It would be asked for again and again.
  if (identity.stale && (await deps.wantsAnew(req, errand)))
    throw new FederationRefusal('not-fresh', 'a fresh sign-in was wanted, and the provider does not show one');
  for (let tries = 0; tries < mostTries; tries += 1) {
    const decision = decide(identity, provider, await factsOf(deps, identity));
    switch (decision.kind) {
      case 'sign-in': {
        const user = await comeByLink(deps, decision.link, identity);
        if (user) return goOn(going, user, 'signed-in');
        break;
      }
      case 'create': {
        const user = await createMember(deps, { ...identity, email: decision.email }, lang);
        if (user) return goOn(going, user, 'created');
        break;
      }
      case 'take-over': {
        const user = await takeOver(deps, decision.user, identity, lang);
        if (user) return goOn(going, user, 'taken-over');
        break;
      }
      case 'confirm':
        return confirmFirst(going, decision.email);
      case 'offer':
        report(going, 'offered');
        return res.redirect(303, wayToOffer(await beginOffer(going, decision.user)));
      case 'prove':
        await beginOffer(going, decision.user, decision.link.id);
        report(going, 'to-prove');
        return res.redirect(303, reusedPath);
      case 'refuse':
        throw new FederationRefusal(decision.why, 'decided so');
    }
  }
  // Nobody has the address, but it is kept for whoever had it (`security.md`, rule 14).
  throw new FederationRefusal('email-taken', 'the address is kept for another member');
}

interface Going {
  deps: FederationDeps;
  req: Request;
  res: Response;
  answered: Answered;
  errand: Errand;
}

function report({ deps: { log, metrics }, answered: { provider } }: Going, outcome: string): void {
  log.info({ act: 'federation', provider: provider.id, outcome }, 'federation');
  metrics.signIn(provider.kind, outcome);
}

async function beginOffer({ deps, req, res, answered, errand }: Going, user: User, linkId?: string): Promise<Offer> {
  const { identity, attempt } = answered;
  const about = { userId: user.id, identity, ...(linkId !== undefined && { linkId }) };
  const offer = { ...about, errand: errand.search, remember: attempt.remember, offeredAtMs: deps.now() };
  await deps.offers.begin(req, res, offer);
  return offer;
}

/** @returns the member as they are now; undefined when the link is gone by now */
function comeByLink(
  { database, providers, now }: FederationDeps,
  link: FederatedIdentity,
  identity: UpstreamIdentity,
): Promise<User | undefined> {
  return database.transaction(async (trx) => {
    if (!(await noteIdentityUse(trx, link.id, identity, now()))) return undefined;
    await settleSecondFactor(trx, providers, link.userId, now());
    return findUser(trx, link.userId);
  });
}

/** Through the one way in, and on: whoever has just become a member goes on to the step PLAN, where there is one. */
async function goOn(going: Going, user: User, how: 'signed-in' | 'created' | 'taken-over'): Promise<void> {
  const { deps, req, res, answered, errand } = going;
  const { provider, identity, attempt } = answered;
  const plan = how === 'signed-in' ? undefined : await deps.afterSignUp(user, errand);
  const entered = await deps.enter(req, res, user, {
    ...{ amr: amrOf(provider), remember: attempt.remember, errand, upstream: identity.session },
    shownAtMs: shownAtOf(identity, deps.now()),
    everyFactor: await deps.wantsEveryFactor(req, errand),
  });
  report(going, how === 'signed-in' ? entered.kind : how);
  res.redirect(303, entered.kind === 'signed-in' && plan !== undefined ? plan : entered.address);
}

/** The provider does not vouch for the address: a code shows whose it is. */
async function confirmFirst(going: Going, email: string): Promise<void> {
  const { deps, req, res, answered, errand } = going;
  const { lang } = deps.pages.context(req, res);
  const { remember } = answered.attempt;
  const more = { errand, remember, lang, company: isOf(email, answered.provider.domains) };
  const begun = await deps.beginUnverified(req, res, { ...answered.identity, email }, more);
  switch (begun.kind) {
    case 'begun':
      report(going, 'not-confirmed');
      return res.redirect(303, begun.address);
    case 'taken':
      throw new FederationRefusal('email-taken', 'an address that nobody vouches for');
    case 'too-many':
      throw new FederationRefusal('too-many', 'codes to one address, or from one network');
  }
}
