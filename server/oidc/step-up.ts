import { type Acr, acrValues, meetsAcr } from '../sessions/index.ts';

/** How sure a sign-in a client app asks for (OpenID Connect Core 1.0, sections 3.1.2.1 and 5.5.1.1). */
export interface RequestedAcr {
  /** The one it likes best first. */
  values: readonly string[];
  /** Rather an error than less. */
  essential: boolean;
}

/** More than anybody needs. */
const maxValues = 20;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the `claims` parameter says of `acr` in the id token; undefined when nothing, or nothing that can be read. */
function acrOfClaims(claims: unknown): RequestedAcr | undefined {
  if (typeof claims !== 'string') return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(claims);
  } catch {
    return undefined;
  }
  const idToken = isObject(parsed) ? parsed.id_token : undefined;
  const acr = isObject(idToken) ? idToken.acr : undefined;
  if (!isObject(acr)) return undefined;
  const values = [acr.value, acr.values].flat().filter((value) => typeof value === 'string');
  return { values: values.slice(0, maxValues), essential: acr.essential === true };
}

/** Undefined: the request wants nothing. What is essential goes before `acr_values`, which is always voluntary. */
export function parseRequestedAcr(params: { acr_values?: unknown; claims?: unknown }): RequestedAcr | undefined {
  const ofClaims = acrOfClaims(params.claims);
  if (ofClaims?.essential && ofClaims.values.length > 0) return ofClaims;
  const named = typeof params.acr_values === 'string' ? params.acr_values.split(' ').filter(Boolean) : [];
  const values = [...named, ...(ofClaims?.values ?? [])].slice(0, maxValues);
  return values.length > 0 ? { values, essential: false } : undefined;
}

/** Whether a first factor alone is less than what is wanted. */
export const requiresMoreThanPassword = (expected: RequestedAcr | undefined): boolean =>
  expected !== undefined && !expected.values.some((value) => meetsAcr('aal1', value));

/** What a member can show beside a password. */
export interface AvailableFactors {
  secondFactor: boolean;
  passkey: boolean;
}

export interface StepUpState extends AvailableFactors {
  /** Of the session. */
  acr: Acr;
  /** Whether the member has been asked already for what this request wants. */
  alreadyAsked: boolean;
}

const strongestAcr = ({ secondFactor, passkey }: AvailableFactors): Acr => {
  if (passkey) return 'phr';
  return secondFactor ? 'aal2' : 'aal1';
};

/**
 * What becomes of a request: it is satisfied, the member is asked, or it cannot be satisfied. Asked once, nobody is asked
 * again; but a sign-in that left a second factor out (the device is remembered) was no answer.
 */
export function decideStepUp({ values }: RequestedAcr, state: StepUpState): 'enough' | 'ask' | 'unmet' {
  const { acr, secondFactor, alreadyAsked } = state;
  const reaches = (reached: Acr) => values.some((value) => meetsAcr(reached, value));
  if (reaches(acr)) return 'enough';
  const answered = alreadyAsked && !(acr === 'aal1' && secondFactor);
  return answered || !reaches(strongestAcr(state)) ? 'unmet' : 'ask';
}

/**
 * What the id token says: of what was wanted the surest that is true, because a client app that wants `aal2` may know of
 * nothing that is surer; else how sure it is.
 */
export function assertedAcr({ values }: RequestedAcr, acr: Acr): Acr {
  if (values.includes(acr)) return acr;
  return acrValues.findLast((one) => values.includes(one) && meetsAcr(acr, one)) ?? acr;
}

/** Of the `claims` parameter only what is about the sign-in itself; the rest is ignored, as Core 1.0, section 5.5, allows. */
export function authenticationClaims(claims: { id_token?: unknown }): { id_token: Record<string, unknown> } {
  const idToken = isObject(claims.id_token) ? claims.id_token : {};
  const stored = Object.entries(idToken).filter(
    ([name, value]) => ['acr', 'amr', 'auth_time', 'sub'].includes(name) && (value === null || isObject(value)),
  );
  return { id_token: Object.fromEntries(stored) };
}
