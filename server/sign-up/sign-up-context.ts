import type { Request } from 'express';
import { type Continuation, continuationFrom, type PageHandler, type RequestContext } from '../http/index.ts';
import { type PlanKey, toPlanKey } from '../shared/index.ts';
import type { PendingAuthorization } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { maxEmailCharacters } from './profile-input.ts';
import type { SignUpState } from './sign-up-state.ts';

/** Fields that step 0 fills in (the specification's query parameters `email` and `from`). */
export interface Prefill {
  email?: string;
  source: 'general' | 'appsumo';
  /** The page's address names them, so it keeps them; what was typed is no part of an address. */
  inAddress?: true;
}

/** The visitor's place in the sign-up, and the addresses of its steps. */
export interface SignUpContext {
  /** `/signup`, or that of a plan. */
  base: string;
  planKey: PlanKey | null;
  continuation: Continuation;
  /** The client app with a pending request. */
  pendingAuthorization: PendingAuthorization | undefined;
  /** Addresses, each with the continuation. */
  profile: string;
  code: string;
  verified: string;
  signIn: string;
}

/** A plan's public handle in the address; any other is a page that does not exist. */
export const planKeyPattern = /^[A-Za-z0-9._~-]{1,100}$/;

export async function loadSignUpContext(
  req: Request,
  deps: Pick<SignUpDeps, 'publicUrl' | 'findPendingAuthorization'>,
): Promise<SignUpContext> {
  const planKey = typeof req.params.planHash === 'string' ? toPlanKey(req.params.planHash) : null;
  const base = planKey === null ? '/signup' : `/signup/plan/${planKey}`;
  const continuation = continuationFrom(req, deps.publicUrl);
  const { authorization, search } = continuation;
  return {
    base,
    planKey,
    continuation,
    pendingAuthorization:
      authorization === undefined ? undefined : await deps.findPendingAuthorization(req, authorization),
    profile: base + search,
    code: `${base}/emailCaptured${search}`,
    verified: `${base}/verifiedCode${search}`,
    signIn: `/${search}`,
  };
}

/** A request of a page of the sign-up. */
export interface SignUpRequest extends RequestContext {
  readonly place: SignUpContext;
}

export function withSignUpContext(handler: PageHandler<SignUpDeps, SignUpRequest>): PageHandler<SignUpDeps> {
  return async (r, deps) => handler(Object.assign(r, { place: await loadSignUpContext(r.req, deps) }), deps);
}

const toSource = (from: string | undefined): Prefill['source'] => (from === 'appsumo' ? 'appsumo' : 'general');

/** Partners link with plain plus signs in the address, which queries read as spaces. */
export function prefillFromQuery(r: RequestContext): Prefill {
  const source = toSource(r.query('from'));
  const email = r.query('email')?.slice(0, maxEmailCharacters);
  if (email === undefined) return { source };
  return { source, email: source === 'appsumo' ? email.trim().replaceAll(' ', '+') : email, inAddress: true };
}

export const prefillFromForm = (r: RequestContext): Prefill => ({
  source: toSource(r.field('from')),
  email: r.field('email'),
});

/** The address of step 0, with the values that it had. */
export function profilePageUrl({ base, continuation }: SignUpContext, { source, email, inAddress }: Prefill): string {
  if (source === 'general' && !inAddress) return base + continuation.search;
  const parameters = new URLSearchParams(continuation.search);
  if (email !== undefined) parameters.set('email', email);
  if (source !== 'general') parameters.set('from', source);
  return `${base}?${parameters}`;
}

/** The address of the page of each state; undefined: the rules of the sign-in decide. */
export function stateUrl(
  state: SignUpState,
  { base, continuation: { search } }: Pick<SignUpContext, 'base' | 'continuation'>,
): string | undefined {
  switch (state.kind) {
    case 'profile':
      return base + search;
    case 'unverified':
    case 'decoy':
    case 'unverified-user':
      return `${base}/emailCaptured${search}`;
    case 'verified':
      return `${base}/verifiedCode${search}`;
    case 'post-sign-up-plan':
      return `/post-signup/plan${search}`;
    case 'proven':
    case 'confirmed':
    case 'complete':
      return undefined;
  }
}

/** Start Over and Cancel: this browser forgets its sign-up. The sign-up waits for its owner until it expires. */
export async function restartSignUp(r: RequestContext, { flows }: SignUpDeps, address: string): Promise<void> {
  await flows.delete(flows.readCookie(r.req));
  flows.clearCookie(r.res);
  r.redirect(address);
}
