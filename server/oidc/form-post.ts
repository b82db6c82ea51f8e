import { createHash } from 'node:crypto';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { addMiddlewareAt, routes } from './routes-table.ts';

const digest = (script: string) => createHash('sha256').update(script).digest('base64');

/** The policy source of a form's target: its origin, or the scheme of an app's own address. */
function toCspSource(redirectUri: string): string {
  const url = new URL(redirectUri);
  return url.origin === 'null' ? url.protocol : url.origin;
}

/** The policy of one form_post page: it may only run its own script, load the site's icon, and submit to that
 * client app (CSP level 3). */
function formPostPolicy(page: string, redirectUri: string): string {
  const scripts = [...page.matchAll(/<script>([^<]*)<\/script>/g)].map(
    ([, script]) => `'sha256-${digest(script ?? '')}'`,
  );
  return [
    "default-src 'none'",
    // Browsers may load the site's icon for this page too.
    "img-src 'self'",
    ['script-src', ...scripts].join(' '),
    `form-action 'self' ${toCspSource(redirectUri)}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/**
 * The library answers `response_mode=form_post` (OAuth 2.0 Form Post Response Mode 1.0) with a page whose script
 * submits a form to the client app, with tokens or an error. Every other page forbids both, so only this one gets its
 * own policy. By then the library has compared the address with the registered ones.
 */
export function allowFormPost(provider: Provider): void {
  addMiddlewareAt(provider, [routes.authorization, `${routes.authorization}/`], (ctx, next) =>
    withPolicy(ctx as KoaContextWithOIDC, next),
  );

  async function withPolicy(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    await next();
    const { status, type, body, oidc, query, respond } = ctx;
    if (respond === false || type !== 'text/html' || typeof body !== 'string') return;
    // A redirect also has a small page as its body.
    if (status >= 300 && status < 400) return;
    const params: Record<string, unknown> = { ...(oidc.params ?? query) };
    const redirectUri = text(params.redirect_uri);
    if (params.response_mode !== 'form_post' || redirectUri === undefined) return;
    ctx.set('Content-Security-Policy', formPostPolicy(body, redirectUri));
  }
}
