import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { UnaskedPage } from '../../views/federation/unasked-page.tsx';
import { belongToRequest, field, HttpError, query } from '../http/index.ts';
import { providerOf, reportRefusal } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { finish } from './finish.ts';
import { FederationRefusal, type UpstreamIdentity } from './identity.ts';
import { wayBack } from './notices.ts';
import { finishPath, type Provider } from './providers.ts';
import type { Ticket } from './tickets.ts';

const isOf = (ticket: Ticket | undefined, provider: Provider): ticket is Ticket => ticket?.provider === provider.id;

/**
 * GET /federation/<provider>/finish?ticket=: the browser is back from SAML's post, with its cookies. The answer counts only
 * in the browser whose attempt it is, once.
 */
export function showTicket(deps: FederationDeps): RequestHandler {
  const { attempts, tickets } = deps;
  return async (req, res) => {
    const provider = providerOf(deps, req);
    const id = query(req, 'ticket') ?? '';
    const ticket = await tickets.find(id);
    if (!isOf(ticket, provider)) {
      reportRefusal(deps, provider, new FederationRefusal('over', 'a ticket that is over, or of nobody'));
      return res.redirect(303, wayBack(undefined, provider, 'over'));
    }
    const { attempt: attemptId, outcome } = ticket;
    if (outcome.kind === 'refused') {
      // Said already, when it came. Where it led is told to the browser alone whose attempt it is.
      const found = attemptId === undefined ? undefined : await attempts.find(req, attemptId, provider.id);
      const attempt = found && found.state !== 'foreign' ? found.attempt : undefined;
      if (attempt) belongToRequest(deps.cookies, req, res, `/${attempt.errand}`);
      return res.redirect(303, wayBack(attempt, provider, outcome.why));
    }
    if (attemptId === undefined) return sendUnaskedPage(deps, req, res, provider, id, outcome.identity);
    const found = await attempts.take(req, attemptId, provider.id);
    const attempt = found.state === 'foreign' ? undefined : found.attempt;
    if (attempt) belongToRequest(deps.cookies, req, res, `/${attempt.errand}`);
    try {
      if (found.state !== 'open') throw new FederationRefusal(found.state, 'the attempt of the answer');
      if (!isOf(await tickets.takeOnce(id), provider))
        throw new FederationRefusal('over', 'a ticket that was used before');
      await finish(deps, req, res, { provider, identity: outcome.identity, attempt: found.attempt });
    } catch (error) {
      const { kind } = reportRefusal(deps, provider, error);
      res.redirect(303, wayBack(attempt, provider, kind));
    }
  };
}

/** Whoever sends a visitor here with an answer of their own must not sign them in to an account of theirs. */
function sendUnaskedPage(
  { pages }: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  ticket: string,
  identity: UpstreamIdentity,
): void {
  const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
  const shown = { action: finishPath(provider.id), fields: { ticket }, provider: provider.name, there, backHref: '/' };
  pages.send(req, res, 200, (ctx) => createElement(UnaskedPage, { ctx, ...shown }), {
    title: (ctx) => ctx.t('federation.unasked.title', { provider: provider.name }),
    address: `${finishPath(provider.id)}?${new URLSearchParams({ ticket })}`,
  });
}

/** POST: the visitor wants to be signed in by an answer for which nobody asked (IdP-initiated). */
export function finishTicket(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const provider = providerOf(deps, req);
    const id = field(req, 'ticket');
    const found = await deps.tickets.find(id);
    if (found?.attempt !== undefined) throw new HttpError('badRequest', { detail: 'a ticket of an attempt' });
    const attempt = { intent: { kind: 'sign-in' }, errand: '', remember: false } as const;
    try {
      const ticket = await deps.tickets.takeOnce(id);
      if (!isOf(ticket, provider) || ticket.outcome.kind !== 'identity')
        throw new FederationRefusal('over', 'a ticket that is over, or of nobody');
      await finish(deps, req, res, { provider, identity: ticket.outcome.identity, attempt });
    } catch (error) {
      const { kind } = reportRefusal(deps, provider, error);
      res.redirect(303, wayBack(attempt, provider, kind));
    }
  };
}
