import type { Request, Response } from 'express';
import type Provider from 'oidc-provider';
import type { Client, Interaction, InteractionResults, KoaContextWithOIDC } from 'oidc-provider';
import { toLifetime, traitsOfParameters } from '../http/index.ts';
import { getCurrentSession, type SessionUser } from '../sessions/index.ts';
import { toClientId } from '../shared/index.ts';
import type { PendingAuthorization } from '../sign-in/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { freshReasons } from './interaction-policy.ts';
import { type OriginalRequest, type PendingAuthorizations, pendingTtlMs } from './pending-authorizations.ts';
import { toHints } from './request-hints.ts';
import { type Admission, consumeUserAuthorization } from './request-limits.ts';
import { toExpressRequest, toExpressResponse } from './routes-table.ts';
import { keyOfRecord, pushedRequestKey } from './short-lived-adapter.ts';
import { parseRequestedAcr, requiresMoreThanPassword } from './step-up.ts';

/** A pending authorization request of this browser (the library's term is interaction). */
export interface AuthorizationRequest extends PendingAuthorization {
  interaction: Interaction;
  client: Client;
  /** The library asks for a higher `acr`. */
  asksForAcr: boolean;
}

export type AuthorizationLookup =
  | { state: 'valid'; request: AuthorizationRequest }
  /** It was started in this browser and is over: answered, or expired (`waitedLong`). */
  | { state: 'expired'; begunWith: OriginalRequest; waitedLong: boolean }
  | { state: 'unknown' | 'other-browser' };

type NewInteraction = Pick<Interaction, 'uid' | 'prompt' | 'params' | 'trusted' | 'deviceCode'>;

/** The id of the pushed request from which it came. The library's types lack this property. */
function toPushedId(interaction: object): string | undefined {
  return text(Reflect.get(interaction, 'parJti'));
}

export interface AuthorizationRequests {
  find(req: Request, id: string): Promise<AuthorizationLookup>;
  /** Returns the page for the library's prompt, and binds the request to this browser. */
  begin(req: Request, res: Response, interaction: NewInteraction): Promise<string>;
  /** Ends a request of this browser, so that it can only start again. */
  abandon(req: Request, id: string): Promise<void>;
  /** Stores a user's answer to the prompt. Returns the address at which the provider resumes, for that user only. */
  answer(request: AuthorizationRequest, member: string, result: InteractionResults): Promise<string>;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Longer ones stay in the stored request only: the address must fit into a browser's next request. */
const maxShown = 2_000;
const view = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= maxShown ? value : undefined;

interface Prompt {
  name: string;
  reasons: string[];
}

const requiresFreshAuthentication = ({ name, reasons }: Prompt): boolean =>
  name === 'login' && !reasons.every((reason) => freshReasons.has(reason));

/**
 * Tests whether an authentication satisfies the prompt. If the client requires fresh authentication, it must be newer
 * than the request.
 */
export const isSatisfiedBy = (prompt: Prompt, begunAtMs: number, session: SessionUser): boolean =>
  !requiresFreshAuthentication(prompt) || session.authTimeMs > begunAtMs;

/** Tests whether the user can keep the session and only needs to present a further factor. */
function requiresStepUpOnly({ reasons }: { reasons: string[] }): boolean {
  return reasons.includes('acr') && reasons.every((reason) => reason === 'acr' || freshReasons.has(reason));
}

/** Undefined for a device's request: its own code has an expiry. */
function toOriginalRequest(interaction: NewInteraction): OriginalRequest | undefined {
  const { params, trusted, deviceCode } = interaction;
  const clientId = text(params.client_id);
  if (clientId === undefined || deviceCode !== undefined) return undefined;
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => (text(one) === undefined ? [] : [[name, String(one)]])),
  );
  // A signed request has no signature when it starts again: like a pushed one it must not come by the browser.
  const isPushed = toPushedId(interaction) !== undefined || (trusted ?? []).length > 0;
  return {
    clientId: toClientId(clientId),
    params: pairs,
    ...(isPushed && { pushed: { trusted: (trusted ?? []).length > 0 } }),
  };
}

export function createAuthorizationRequests(
  provider: () => Provider,
  pending: PendingAuthorizations,
  now: () => number,
): AuthorizationRequests {
  const requests: AuthorizationRequests = {
    async find(req, id) {
      const found = await pending.find(req, id);
      if (found.state !== 'valid') return found;
      const { begunAtMs, begunWith, gone } = found;
      const waitedLong = gone || now() - begunAtMs >= pendingTtlMs;
      const interaction = await provider().Interaction.find(id);
      if (begunWith && (!interaction || waitedLong)) return { state: 'expired', begunWith, waitedLong };
      const client = interaction && (await provider().Client.find(text(interaction.params.client_id) ?? ''));
      if (!interaction || !client) return { state: 'unknown' };
      const request: AuthorizationRequest = {
        interaction,
        client,
        clientId: toClientId(client.clientId),
        clientName: client.clientName ?? client.clientId,
        satisfiedBy: (session) => isSatisfiedBy(interaction.prompt, begunAtMs, session),
        requiresFreshAuthentication: requiresFreshAuthentication(interaction.prompt),
        asksForAcr: interaction.prompt.reasons.includes('acr'),
        requiresStepUpOnly: requiresStepUpOnly(interaction.prompt),
        requiresAllFactors: requiresMoreThanPassword(parseRequestedAcr(interaction.params)),
        ...toHints(interaction.params),
      };
      return { state: 'valid', request };
    },
    async begin(req, res, interaction) {
      const { uid, prompt, params } = interaction;
      const traits = interaction.deviceCode === undefined ? traitsOfParameters(params) : undefined;
      await pending.bind(req, res, { id: uid, begunWith: toOriginalRequest(interaction), traits });
      if (prompt.name === 'consent') return `/consent?${new URLSearchParams({ authorization_code: uid })}`;
      // The specification's address, in which `authorization_code` names the pending request, never the client's code.
      const query = new URLSearchParams();
      for (const name of ['client_id', 'redirect_uri'] as const) {
        const value = view(params[name]);
        if (value !== undefined) query.set(name, value);
      }
      query.set('authorization_code', uid);
      const state = view(params.state);
      if (state !== undefined) query.set('state', state);
      return `/?${query}`;
    },
    async abandon(req, id) {
      const found = await requests.find(req, id);
      if (found.state === 'valid') await found.request.interaction.destroy();
    },
    async answer({ interaction }, member, result) {
      // The session may have been replaced since the request started; the binding to this browser has already been
      // checked.
      interaction.session = undefined;
      // Earlier answers to the same request count only for the same user: a consent belongs to one user.
      const before = interaction.lastSubmission?.member === member ? interaction.lastSubmission : undefined;
      interaction.result = { ...before, ...result, member };
      await interaction.persist();
      return interaction.returnTo;
    },
  };
  return requests;
}

/** Data of a request live as long as its record in pending-authorizations.ts. */
async function keepAsLong(kv: KeyValueStore, interaction: Pick<Interaction, 'uid'>, ttlMs: number): Promise<void> {
  if (ttlMs < pendingTtlMs) await kv.expire(keyOfRecord('Interaction', interaction.uid), ttlMs);
  const pushed = toPushedId(interaction);
  // A pushed request is marked as used only when the request is answered; without this it would expire after 60
  // seconds.
  if (pushed !== undefined) await kv.expire(pushedRequestKey(pushed), ttlMs);
}

/** Returns the page for a prompt of the library, and binds its request to the browser. */
export function createInteractionUrl(requests: AuthorizationRequests, admission: Admission) {
  return async (ctx: KoaContextWithOIDC, interaction: Interaction): Promise<string> => {
    const [req, res] = [toExpressRequest(ctx.req), toExpressResponse(ctx.res)];
    const member = getCurrentSession(req)?.userId;
    if (member !== undefined) await consumeUserAuthorization(admission, req, { member, interaction });
    await keepAsLong(admission.kv, interaction, toLifetime(req));
    return requests.begin(req, res, interaction);
  };
}
