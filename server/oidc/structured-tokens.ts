import type Provider from 'oidc-provider';
import { routes } from './routes-table.ts';

/**
 * Introspection of a JWT, such as an access token of a resource server or an id token, answers that it is not active
 * (RFC 7662, section 2.2: an unknown token is not an error). The library answers an error, which is right only for
 * revocation (RFC 7009, section 2.2.1). By then the client has authenticated.
 */
export function introspectStructuredTokens(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.path !== routes.introspection || ctx.status !== 400) return;
    if ((ctx.body as { error?: unknown } | undefined)?.error !== 'unsupported_token_type') return;
    ctx.status = 200;
    ctx.body = { active: false };
  });
}
