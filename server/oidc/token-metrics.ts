import Provider, { type Adapter, errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClientType, IssuedKind, Metrics } from '../shared/index.ts';
import { hasRedeemed } from './plain-answers.ts';
import { AnsweredBefore } from './refresh-token-reuse.ts';

const saved: [event: string, kind: IssuedKind][] = [
  ['authorization_code.saved', 'authorization_code'],
  ['access_token.saved', 'access_token'],
  // Tokens that are not stored: JWTs.
  ['access_token.issued', 'access_token'],
  ['client_credentials.saved', 'access_token'],
  ['client_credentials.issued', 'access_token'],
  ['refresh_token.saved', 'refresh_token'],
];

const clientType = (ctx: KoaContextWithOIDC | undefined): ClientType =>
  ctx?.oidc.client?.clientAuthMethod === 'none' ? 'public' : 'confidential';

const hasIdToken = (answer: unknown) => Reflect.get(Object(answer), 'id_token') !== undefined;

/** Counts what the library issues to client apps, by the events that it emits. */
export function countIssuedTokens(provider: Provider, metrics: Metrics): void {
  if (!metrics.on) return;
  const emitter: NodeJS.EventEmitter = provider;
  for (const [event, kind] of saved) emitter.on(event, () => metrics.issued(kind, clientType(Provider.ctx)));
  provider.on('grant.success', (ctx) => {
    if (hasIdToken(ctx.body)) metrics.issued('id_token', clientType(ctx));
  });
  emitter.on('authorization.success', (ctx: KoaContextWithOIDC, answer: unknown) => {
    if (hasIdToken(answer)) metrics.issued('id_token', clientType(ctx));
  });
}

/**
 * Reports a code or refresh token that is redeemed a second time: the library refuses and revokes, but emits no event.
 * Other look-ups (introspection, revocation) are not redemptions.
 */
export function reportTokenReuse(
  adapter: Adapter,
  kind: 'authorization_code' | 'refresh_token',
  metrics: Metrics,
): Adapter {
  if (!metrics.on) return adapter;
  return {
    ...adapter,
    async find(id) {
      const found = await adapter.find(id);
      const { ctx } = Provider;
      if (found?.consumed && ctx?.oidc.route === 'token' && !hasRedeemed(ctx.req)) metrics.reused(kind);
      return found;
    },
    async consume(id) {
      try {
        await adapter.consume(id);
      } catch (error) {
        if (error instanceof errors.InvalidGrant && !(error instanceof AnsweredBefore)) metrics.reused(kind);
        throw error;
      }
    },
  };
}
