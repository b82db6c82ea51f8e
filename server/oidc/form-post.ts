import { createHash } from 'node:crypto';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { createElement } from 'react';
import { FormPostPage } from '../../views/layout/form-post-page.tsx';
import { redirectTitle } from '../../views/layout/redirect-page.tsx';
import { renderDocument } from '../http/index.ts';
import type { OidcDeps } from './deps.ts';
import { addMiddlewareAt, routes, toExpressRequest, toExpressResponse } from './routes-table.ts';

/** The only script of the page. It does not wait for styles and fonts. */
const script = "document.addEventListener('DOMContentLoaded', () => document.forms[0].submit())";
const scriptSource = `'sha256-${createHash('sha256').update(script).digest('base64')}'`;

/** The policy source of a form's target: its origin, or the scheme of an app's own address. */
function toCspSource(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.origin === 'null' ? url.protocol : url.origin;
}

/**
 * The policy of one form_post page: it may only run its own script, load the site's look, and submit to that client app
 * (CSP level 3).
 */
function formPostPolicy(redirectUri: string, logoUrl: string | undefined): string {
  return [
    "default-src 'none'",
    ["img-src 'self'", ...(logoUrl === undefined ? [] : [new URL(logoUrl).origin])].join(' '),
    "style-src 'self'",
    "font-src 'self'",
    `script-src ${scriptSource}`,
    `form-action 'self' ${toCspSource(redirectUri)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const unescapeText = (html: string) => html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? '');

/** The fields of the library's page, which escapes exactly these characters. */
function readFields(page: string): Record<string, string> {
  const inputs = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  return Object.fromEntries([...inputs].map(([, name = '', value = '']) => [name, unescapeText(value)]));
}

/**
 * The library answers `response_mode=form_post` (OAuth 2.0 Form Post Response Mode 1.0) with a page whose script
 * submits a form to the client app, with tokens or an error. Foyer's page has the same fields, in the language of the
 * visitor. Every other page forbids both, so only this one gets its own policy. By then the library has compared the
 * address with the registered ones.
 */
export function allowFormPost(provider: Provider, deps: OidcDeps): void {
  addMiddlewareAt(provider, [routes.authorization, `${routes.authorization}/`], (ctx, next) => withPage(ctx, next));

  async function render(
    ctx: KoaContextWithOIDC,
    answer: { action: string; fields: Record<string, string> },
  ): Promise<void> {
    const [req, res] = [toExpressRequest(ctx.req), toExpressResponse(ctx.res)];
    deps.toExpress(req, res);
    // The page is in the language of the user.
    await deps.sessions.getCurrentUser(req);
    const page = deps.pages.context(req, res);
    const name = ctx.oidc.client?.clientName;
    const target = name === undefined ? {} : { clientName: name };
    const element = createElement(FormPostPage, { ctx: page, ...answer, to: target });
    const html = renderDocument(page, element, { title: redirectTitle(page, target), robots: 'noindex' });
    ctx.body = html.replace('<head>', () => `<head><script>${script}</script>`);
    ctx.set('Content-Security-Policy', formPostPolicy(answer.action, page.brand.logoUrl));
  }

  async function withPage(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    await next();
    const { status, type, body, oidc, query, respond } = ctx;
    if (respond === false || type !== 'text/html' || typeof body !== 'string') return;
    // A redirect also has a small page as its body.
    if (status >= 300 && status < 400) return;
    const params: Record<string, unknown> = { ...(oidc.params ?? query) };
    const redirectUri = text(params.redirect_uri);
    if (params.response_mode !== 'form_post' || redirectUri === undefined) return;
    await render(ctx, { action: redirectUri, fields: readFields(body) });
  }
}
