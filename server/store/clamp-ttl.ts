/**
 * A time to live that both backends support: whole milliseconds, at least one. An expired one lives for that one
 * millisecond, so a caller who computes `expiresAt - now` needs no special case.
 * @throws RangeError if it is not a finite number: every entry must expire.
 */
export function clampTtl(ttlMs: number): number {
  if (!Number.isFinite(ttlMs)) throw new RangeError(`A time to live must be a finite number of milliseconds: ${ttlMs}`);
  return Math.max(1, Math.ceil(ttlMs));
}
