import { type Acr, acrValues, satisfies } from '../session/index.ts';

/** How sure a sign-in a client app asks for (OpenID Connect Core 1.0, sections 3.1.2.1 and 5.5.1.1). */
export interface WantedAcr {
  /** The one it likes best first. */
  values: readonly string[];
  /** Rather an error than less. */
  essential: boolean;
}

/** More than anybody needs. */
const mostValues = 20;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the `claims` parameter says of `acr` in the id token; undefined when nothing, or nothing that can be read. */
function acrOfClaims(claims: unknown): WantedAcr | undefined {
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
  return { values: values.slice(0, mostValues), essential: acr.essential === true };
}

/** Undefined: the request wants nothing. What is essential goes before `acr_values`, which is always voluntary. */
export function wantedAcr(params: { acr_values?: unknown; claims?: unknown }): WantedAcr | undefined {
  const ofClaims = acrOfClaims(params.claims);
  if (ofClaims?.essential && ofClaims.values.length > 0) return ofClaims;
  const named = typeof params.acr_values === 'string' ? params.acr_values.split(' ').filter(Boolean) : [];
  const values = [...named, ...(ofClaims?.values ?? [])].slice(0, mostValues);
  return values.length > 0 ? { values, essential: false } : undefined;
}

/** Whether a first factor alone is less than what is wanted. */
export const wantsMoreThanPassword = (wanted: WantedAcr | undefined): boolean =>
  wanted !== undefined && !wanted.values.some((value) => satisfies('aal1', value));

/** What a member can show beside a password. */
export interface Ways {
  secondFactor: boolean;
  passkey: boolean;
}

export interface Standing extends Ways {
  /** Of the session. */
  acr: Acr;
  /** Whether the member has been asked already for what this request wants. */
  asked: boolean;
}

const bestOf = ({ secondFactor, passkey }: Ways): Acr => {
  if (passkey) return 'phr';
  return secondFactor ? 'aal2' : 'aal1';
};

/**
 * What becomes of a request: it is satisfied, the member is asked, or it cannot be satisfied. Asked once, nobody is asked
 * again; but a sign-in that left a second factor out (the device is remembered) was no answer.
 */
export function stepUp({ values }: WantedAcr, standing: Standing): 'enough' | 'ask' | 'unmet' {
  const { acr, secondFactor, asked } = standing;
  const reaches = (reached: Acr) => values.some((value) => satisfies(reached, value));
  if (reaches(acr)) return 'enough';
  const answered = asked && !(acr === 'aal1' && secondFactor);
  return answered || !reaches(bestOf(standing)) ? 'unmet' : 'ask';
}

/**
 * What the id token says: of what was wanted the surest that is true, because a client app that wants `aal2` may know of
 * nothing that is surer; else how sure it is.
 */
export function saidAcr({ values }: WantedAcr, acr: Acr): Acr {
  if (values.includes(acr)) return acr;
  return acrValues.findLast((one) => values.includes(one) && satisfies(acr, one)) ?? acr;
}

/** Of the `claims` parameter only what is about the sign-in itself; the rest is ignored, as Core 1.0, section 5.5, allows. */
export function claimsOfSignIn(claims: { id_token?: unknown }): { id_token: Record<string, unknown> } {
  const idToken = isObject(claims.id_token) ? claims.id_token : {};
  const kept = Object.entries(idToken).filter(
    ([name, value]) => ['acr', 'amr', 'auth_time', 'sub'].includes(name) && (value === null || isObject(value)),
  );
  return { id_token: Object.fromEntries(kept) };
}
