import type { Request, Response } from 'express';
import { createElement } from 'react';
import { OneProviderPage } from '../../views/sign-in/one-provider-page.tsx';
import { doorOf, hintedProvider, type Provider, takes } from '../federation/index.ts';
import { type Errand, query, withErrand } from '../http/index.ts';
import type { SignInDeps, WaitingRequest } from './deps.ts';
import type { SignInForm } from './landing.ts';

/** The value of `ways` in the address of the whole page. */
const allWays = 'all';

/**
 * The provider that a waiting request asks for. Undefined where the visitor wants all ways, or the provider does not take this
 * browser. A member presses the button: no GET begins an attempt, because any page can cause one.
 */
export function providerAskedFor(
  { federation }: Pick<SignInDeps, 'federation'>,
  req: Request,
  pending: WaitingRequest | undefined,
): Provider | undefined {
  if (query(req, 'ways') === allWays) return undefined;
  const provider = hintedProvider(federation.providers, pending?.providerHint);
  return provider && takes(provider, req.get('user-agent')) ? provider : undefined;
}

export function sendOneProviderPage(
  { pages }: Pick<SignInDeps, 'pages'>,
  req: Request,
  res: Response,
  provider: Provider,
  { errand, pending, said }: { errand: Errand; pending: WaitingRequest | undefined } & Pick<SignInForm, 'said'>,
): void {
  const parameters = new URLSearchParams(errand.search);
  parameters.set('ways', allWays);
  pages.send(
    req,
    res,
    200,
    (ctx) =>
      createElement(OneProviderPage, {
        ctx: withErrand(ctx, errand.search),
        door: doorOf(provider, ctx, `/federation/${provider.id}${errand.search}`),
        username: pending?.loginHint ?? '',
        otherWays: `/?${parameters}`,
        clientName: pending?.clientName,
        said,
      }),
    { title: (ctx) => ctx.t('signIn.title'), address: `/${errand.search}` },
  );
}
