import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';

/** Standard response modes for id tokens; the specification's short form sends only the token. */
const modes: ReadonlySet<string | undefined> = new Set(['fragment', 'form_post']);

/**
 * Every authorization response names its issuer (RFC 9207, section 2). The library omits it beside an id token, which
 * names it too, but discovery promises the parameter.
 */
export function addIssParameter(provider: Provider): void {
  const emitter: NodeJS.EventEmitter = provider;
  emitter.on('authorization.success', ({ oidc }: KoaContextWithOIDC, answer: Record<string, unknown>) => {
    if (modes.has(oidc.responseMode)) answer.iss ??= provider.issuer;
  });
}
