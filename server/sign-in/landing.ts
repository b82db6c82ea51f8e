import type { Request, RequestHandler, Response } from 'express';
import { createElement } from 'react';
import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { doorsOf, noticeOf, noticeText, type Provider } from '../federation/index.ts';
import { type Errand, errandOf, errandOfSearch, HttpError, query, sendGoingOnPage, withErrand } from '../http/index.ts';
import { isSignedOutElsewhere } from '../session/index.ts';
import type { SignInDeps } from './deps.ts';
import { providerAskedFor, sendOneProviderPage } from './one-provider.ts';
import { passkeyAsk } from './passkey-ask.ts';
import { overNotice } from './second-factor-standing.ts';

export interface SignInForm {
  values?: { username: string; remember: boolean };
  errors?: { username?: string; password?: string; form?: string };
  /** The password was set anew a moment ago. */
  isReset?: boolean;
  /** What became of a way through a provider. */
  said?: { kind: 'error' | 'info'; text: string } | undefined;
  /** Its button would lead here again. */
  without?: Provider | undefined;
  status?: number;
}

/** Answers the sign-in page, fresh or with what went wrong; the password is never given back. */
export function sendSignInPage(
  deps: Pick<SignInDeps, 'pages' | 'passkeys' | 'federation' | 'publicUrl'>,
  req: Request,
  res: Response,
  { errand, clientName }: { errand: Errand; clientName?: string | undefined },
  { said, without, ...form }: SignInForm = {},
): void {
  const address = `/${errand.search}`;
  const shown: SignInForm | undefined = deps.pages.shownAt(req, res, address, form);
  if (!shown) return;
  const { values = { username: '', remember: false }, errors = {}, isReset = false, status = 200 } = shown;
  const passkey = passkeyAsk(deps, req, errand);
  deps.pages.send(
    req,
    res,
    status,
    (ctx) =>
      createElement(SignInPage, {
        ctx: withErrand(ctx, errand.search),
        action: `/sign-in${errand.search}`,
        values,
        errors,
        passkey,
        said,
        doors: doorsOf(
          { all: deps.federation.providers.all.filter((one) => one !== without) },
          { ...ctx, userAgent: req.get('user-agent') },
          { search: errand.search, place: clientName ?? new URL(deps.publicUrl).host },
        ),
        ...(isReset && { done: ctx.t('password.reset.done') }),
        ...(clientName !== undefined && { clientName }),
      }),
    { title: (ctx) => ctx.t('signIn.title'), address },
  );
}

/** GET /sign-in: an address that the form has left behind (a bookmark, a restored tab) leads to the form's page. */
export const toSignInPage: RequestHandler = (req, res) => {
  const at = req.originalUrl.indexOf('?');
  res.redirect(303, at < 0 ? '/' : `/${req.originalUrl.slice(at)}`);
};

/** Where a client app is only named: a member goes on from there to where it begins a request. */
const namedOnly = (clientId: string) => `?${new URLSearchParams({ client_id: clientId })}`;

/** The errand of a sign-in for a client app that is only named: after it the member comes by here again. */
function errandTo(errand: Errand, publicUrl: string): Errand {
  const parameters = new URLSearchParams(errand.search);
  if (errand.returnTo !== undefined) return errand;
  parameters.set('redirect', `/${namedOnly(parameters.get('client_id') ?? '')}`);
  return errandOfSearch(`?${parameters}`, publicUrl);
}

/** The client app that an address names without a request; undefined where there is one, or nothing is named. */
export async function namedClient({ shortForm }: Pick<SignInDeps, 'shortForm'>, errand: Errand) {
  return errand.authorization === undefined ? shortForm(errand) : undefined;
}

/** The sign-in page for whoever holds a request that cannot begin again here: at best it leads to the client app's start. */
async function sendExpired(deps: SignInDeps, req: Request, res: Response, { search }: Errand): Promise<void> {
  const clientId = new URLSearchParams(search).get('client_id');
  const errand = clientId ? errandOfSearch(namedOnly(clientId), deps.publicUrl) : { search: '' };
  const named = await namedClient(deps, errand).catch(() => undefined);
  const { t } = req;
  if (named?.kind !== 'client' || named.href === undefined) {
    const form = { errors: { form: t('signIn.errors.requestExpired') }, status: 400 };
    return sendSignInPage(deps, req, res, { errand: { search: '' } }, form);
  }
  const { clientName } = named;
  const said = { kind: 'info' as const, text: t('signIn.beginsAgain', { clientName }) };
  sendSignInPage(deps, req, res, { errand: errandTo(errand, deps.publicUrl), clientName }, { said, status: 400 });
}

/** GET /: who is signed in goes on to the next step, everybody else sees the form. */
export function landing(deps: SignInDeps): RequestHandler {
  return async (req, res) => {
    const errand = errandOf(req, deps.publicUrl);
    const pending =
      errand.authorization === undefined ? undefined : await deps.pendingRequest(req, errand.authorization);
    const member = await deps.sessions.member(req);
    if (errand.authorization !== undefined && !pending) {
      const { options } = await deps.requestOver(req, errand);
      // Who is signed in needs no form: often the request came home, and this is the back button.
      if (member || options.instead !== undefined) throw new HttpError('requestExpired', options);
      return sendExpired(deps, req, res, errand);
    }
    // A member who is signed in already tried to sign in as someone else.
    const isRefused = deps.pages.isRefused(req, `/${errand.search}`);
    const forced = req.query.forceAuth !== undefined || isRefused;
    const named = await namedClient(deps, errand);
    if (named?.kind === 'authorize') return res.redirect(303, named.href);
    const goesOn = named?.kind === 'client-begins' || (member && !forced && errand.returnTo === undefined);
    // Often the next step after a form, whose policy knows no client app.
    if (named?.href !== undefined && goesOn) return sendGoingOnPage(deps.pages, req, res, named.href, named.clientName);
    const asked = forced || (member && pending && !pending.satisfiedBy(member.session));
    if (member && asked && pending?.asksForAcrAlone && !forced) {
      return res.redirect(303, `/re-authenticate${errand.search}`);
    }
    if (member && !asked) return res.redirect(303, deps.wayOn(member.user, errand).address);
    const notice = query(req, 'notice');
    const isReset = notice === 'password-reset';
    const { t } = req;
    const over = notice === overNotice && { errors: { form: t('mfa.challenge.errors.over') } };
    const ended = noticeOf(req, deps.federation.providers);
    const isSignedOut = isSignedOutElsewhere(deps.cookies, req, res) && !isReset && !over;
    const signedOut = isSignedOut ? { kind: 'info' as const, text: t('signIn.errors.sessionEnded') } : undefined;
    const said = ended ? noticeText(t, ended) : signedOut;
    const without = ended?.why === 'offer' ? ended.provider : undefined;
    const place = named?.href === undefined ? errand : errandTo(errand, deps.publicUrl);
    const clientName = pending?.clientName ?? named?.clientName;
    // After a refusal, and with news of its own, the page shows every way.
    const provider = isRefused || ended || over || isReset ? undefined : providerAskedFor(deps, req, pending);
    if (provider) return sendOneProviderPage(deps, req, res, provider, { errand, pending, said });
    const values = { username: pending?.loginHint ?? '', remember: false };
    sendSignInPage(deps, req, res, { errand: place, clientName }, { values, isReset, said, without, ...over });
  };
}
