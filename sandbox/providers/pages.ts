import { randomBytes } from 'node:crypto';
import type { Response } from 'express';
import { createElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { ChooserPage } from '../views/providers/chooser-page.tsx';
import { ProviderDocument } from '../views/providers/document.tsx';
import { PassOnPage } from '../views/providers/pass-on-page.tsx';
import { PlainPage } from '../views/providers/plain-page.tsx';
import { brokenGroups } from './answers.ts';
import { type Person, type StandInKind, toFullName } from './people.ts';
import { standInTraits } from './traits.ts';

/**
 * A page of another site: without Foyer's headers and styles. It has no `form-action`: the answer of its form leads to
 * Foyer, and from there to any target.
 */
export function sendPage(
  res: Response,
  status: number,
  { title, kind, body, submits = false }: { title: string; kind?: StandInKind; body: ReactElement; submits?: boolean },
): void {
  const nonce = randomBytes(16).toString('base64');
  res.set({
    'Content-Security-Policy': `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; frame-ancestors 'none'`,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
  const html = renderToStaticMarkup(createElement(ProviderDocument, { title, kind, nonce, submits }, body));
  res.status(status).type('html').send(`<!doctype html>${html}`);
}

/** An error page. */
export function sendFault(
  res: Response,
  { status = 400, title, text }: { status?: number; title: string; text: string },
): void {
  sendPage(res, status, { title, body: createElement(PlainPage, { title, text }) });
}

interface Chooser {
  kind: StandInKind;
  app: string;
  hint?: string | undefined;
  request: string;
  people: readonly Person[];
  action: string;
}

export function sendChooser(
  res: Response,
  status: number,
  { kind, app, hint, request, people, action }: Chooser,
): void {
  const { name: provider, unconfirmed } = standInTraits[kind];
  const accounts = people.map((person) => ({
    name: toFullName(person),
    email: person.email,
    note: person.email === undefined ? 'no email' : person.emailVerified ? undefined : unconfirmed,
  }));
  const body = createElement(ChooserPage, {
    provider,
    app,
    hint,
    request,
    accounts,
    action,
    broken: Object.entries(brokenGroups[kind]).map(([title, group]) => ({ title, ways: Object.entries(group) })),
    saysVerified: unconfirmed !== undefined,
  });
  sendPage(res, status, { title: `Sign in with ${provider}`, kind, body });
}

/** SAML's HTTP-POST binding (SAML 2.0 Bindings, section 3.5): the browser posts it, at once with scripts. */
export function sendPost(res: Response, address: string, fields: Record<string, string>): void {
  const body = createElement(PassOnPage, { address, fields });
  sendPage(res, 200, { title: 'Signing you in', kind: 'saml', body, submits: true });
}
