import { type Acr, acrValues, meetsAcr } from '../sessions/index.ts';
import { parseUnknownJson } from '../shared/index.ts';

/** The requested authentication class (OpenID Connect Core 1.0, sections 3.1.2.1 and 5.5.1.1). */
interface RequestedAcr {
  /** In the order of preference. */
  values: readonly string[];
  /** An error instead of a weaker class. */
  essential: boolean;
}

/** More than any client app needs. */
const maxValues = 20;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The `acr` request for the id token in the `claims` parameter; undefined if it is absent or malformed. */
function acrOfClaims(claims: unknown): RequestedAcr | undefined {
  if (typeof claims !== 'string') return undefined;
  let parsed: unknown;
  try {
    parsed = parseUnknownJson(claims);
  } catch {
    return undefined;
  }
  const idToken = isObject(parsed) ? parsed.id_token : undefined;
  const acr = isObject(idToken) ? idToken.acr : undefined;
  if (!isObject(acr)) return undefined;
  const values = [acr.value, acr.values].flat().filter((value) => typeof value === 'string');
  return { values: values.slice(0, maxValues), essential: acr.essential === true };
}

/**
 * Undefined: the request has no demand. An essential claim has precedence over `acr_values`, which is always voluntary.
 */
export function parseRequestedAcr(params: { acr_values?: unknown; claims?: unknown }): RequestedAcr | undefined {
  const ofClaims = acrOfClaims(params.claims);
  if (ofClaims?.essential && ofClaims.values.length > 0) return ofClaims;
  const named = typeof params.acr_values === 'string' ? params.acr_values.split(' ').filter(Boolean) : [];
  const values = [...named, ...(ofClaims?.values ?? [])].slice(0, maxValues);
  return values.length > 0 ? { values, essential: false } : undefined;
}

/** Tests whether a first factor alone is less than requested. */
export const requiresMoreThanPassword = (expected: RequestedAcr | undefined): boolean =>
  expected !== undefined && !expected.values.some((value) => meetsAcr('aal1', value));

/** The factors of a user besides the password. */
export interface AvailableFactors {
  secondFactor: boolean;
  passkey: boolean;
}

interface StepUpState extends AvailableFactors {
  /** The class of the session. */
  acr: Acr;
  /** Whether the user has already been asked for this request. */
  alreadyAsked: boolean;
}

const strongestAcr = ({ secondFactor, passkey }: AvailableFactors): Acr => {
  if (passkey) return 'phr';
  return secondFactor ? 'aal2' : 'aal1';
};

/**
 * Decides whether a request is satisfied, the user must be asked, or it cannot be satisfied. A user is asked only once;
 * but a sign-in that skipped the second factor (remembered device) does not count.
 */
export function decideStepUp({ values }: RequestedAcr, state: StepUpState): 'satisfied' | 'prompt' | 'unmet' {
  const { acr, secondFactor, alreadyAsked } = state;
  const reaches = (reached: Acr) => values.some((value) => meetsAcr(reached, value));
  if (reaches(acr)) return 'satisfied';
  const answered = alreadyAsked && !(acr === 'aal1' && secondFactor);
  return answered || !reaches(strongestAcr(state)) ? 'unmet' : 'prompt';
}

/**
 * The `acr` of the id token: the strongest requested class that is true, because a client app that requests `aal2` may
 * not know a stronger one; else the actual class.
 */
export function assertedAcr({ values }: RequestedAcr, acr: Acr): Acr {
  if (values.includes(acr)) return acr;
  return acrValues.findLast((one) => values.includes(one) && meetsAcr(acr, one)) ?? acr;
}
