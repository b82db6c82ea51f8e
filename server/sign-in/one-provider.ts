import type { Request, Response } from 'express';
import { createElement } from 'react';
import { OneProviderPage } from '../../views/sign-in/one-provider-page.tsx';
import { acceptsBrowser, hintedProvider, type Provider, toProviderButton } from '../federation/index.ts';
import { type Continuation, readQueryParam, withContinuation } from '../http/index.ts';
import type { PendingAuthorization, SignInDeps } from './deps.ts';
import type { SignInPageState } from './sign-in-handlers.ts';

/** The value of `ways` in the address of the page with all sign-in methods. */
const allWays = 'all';

/**
 * The provider that a pending request asks for. Undefined if the visitor wants to see all methods, or the provider does
 * not support this browser. The user must press the button: a GET never starts an attempt, because any site can cause
 * one.
 */
export function providerAskedFor(
  { federation }: Pick<SignInDeps, 'federation'>,
  req: Request,
  pending: PendingAuthorization | undefined,
): Provider | undefined {
  if (readQueryParam(req, 'ways') === allWays) return undefined;
  const provider = hintedProvider(federation.providers, pending?.providerHint);
  return provider && acceptsBrowser(provider, req.get('user-agent')) ? provider : undefined;
}

export function sendOneProviderPage(
  { pages }: Pick<SignInDeps, 'pages'>,
  req: Request,
  res: Response,
  provider: Provider,
  {
    continuation,
    pending,
    providerNotice,
  }: { continuation: Continuation; pending: PendingAuthorization | undefined } & Pick<
    SignInPageState,
    'providerNotice'
  >,
): void {
  const parameters = new URLSearchParams(continuation.search);
  parameters.set('ways', allWays);
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(OneProviderPage, {
        ctx: withContinuation(ctx, continuation.search),
        providerButton: toProviderButton(provider, ctx, `/federation/${provider.id}${continuation.search}`),
        username: pending?.loginHint ?? '',
        otherWays: `/?${parameters}`,
        clientName: pending?.clientName,
        noticeName: providerNotice,
      }),
    { title: (ctx) => ctx.t('signIn.title'), address: `/${continuation.search}` },
  );
}
