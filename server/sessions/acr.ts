/**
 * How sure it is who signed in, the surest last: the password alone, two factors, a key that cannot be phished (`phr`,
 * OpenID Connect Extended Authentication Profile ACR Values 1.0).
 */
export const acrValues = ['aal1', 'aal2', 'phr'] as const;
export type Acr = (typeof acrValues)[number];

/** From how a member signed in (RFC 8176). `pop` stands for a passkey alone: nothing else here proves possession of a key. */
export function toAcr(amr: readonly string[]): Acr {
  if (!amr.includes('mfa')) return 'aal1';
  return amr.includes('pop') ? 'phr' : 'aal2';
}

/** Whether a sign-in is at least as sure as was wanted. What this house does not know, nothing satisfies. */
export function meetsAcr(acr: Acr, expected: string): boolean {
  const at = (acrValues as readonly string[]).indexOf(expected);
  return at >= 0 && acrValues.indexOf(acr) >= at;
}
