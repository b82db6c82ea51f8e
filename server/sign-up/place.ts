import type { Request } from 'express';
import { type Errand, errandOf, field, query } from '../http/index.ts';
import type { WaitingRequest } from '../sign-in/index.ts';
import type { SignUpDeps } from './deps.ts';
import { mostEmailCharacters } from './new-sign-up.ts';

/** What step 0 fills in by itself (the specification's query parameters `email` and `from`). */
export interface Prefill {
  email?: string;
  source: 'general' | 'appsumo';
}

/** Where in the sign-up a visitor is, and where its steps are. */
export interface Place {
  /** `/signup`, or that of a plan. */
  base: string;
  planKey: string | null;
  errand: Errand;
  /** The client app that waits. */
  waiting: WaitingRequest | undefined;
  /** Addresses, each with the errand. */
  profile: string;
  code: string;
  verified: string;
  signIn: string;
}

/** A plan's public handle in the address; any other is a page that does not exist. */
export const planKeyPattern = /^[A-Za-z0-9._~-]{1,100}$/;

export async function placeOf(deps: Pick<SignUpDeps, 'publicUrl' | 'pendingRequest'>, req: Request): Promise<Place> {
  const planKey = typeof req.params.planHash === 'string' ? req.params.planHash : null;
  const base = planKey === null ? '/signup' : `/signup/plan/${planKey}`;
  const errand = errandOf(req, deps.publicUrl);
  const { authorization, search } = errand;
  return {
    base,
    planKey,
    errand,
    waiting: authorization === undefined ? undefined : await deps.pendingRequest(req, authorization),
    profile: base + search,
    code: `${base}/emailCaptured${search}`,
    verified: `${base}/verifiedCode${search}`,
    signIn: `/${search}`,
  };
}

const sourceOf = (from: string | undefined): Prefill['source'] => (from === 'appsumo' ? 'appsumo' : 'general');

/** Partners link with plain plus signs in the address, which queries read as spaces. */
export function prefillOfQuery(req: Request): Prefill {
  const source = sourceOf(query(req, 'from'));
  const email = query(req, 'email')?.slice(0, mostEmailCharacters);
  if (email === undefined) return { source };
  return { source, email: source === 'appsumo' ? email.trim().replaceAll(' ', '+') : email };
}

export const prefillOfForm = (req: Request): Prefill => ({
  source: sourceOf(field(req, 'from')),
  email: field(req, 'email'),
});

/** Step 0 as it can be asked for again, with what came by its address. */
export function profileAddress({ base, errand }: Place, { source, email }: Prefill): string {
  if (source === 'general') return base + errand.search;
  const parameters = new URLSearchParams(errand.search);
  if (email !== undefined) parameters.set('email', email);
  parameters.set('from', source);
  return `${base}?${parameters}`;
}
