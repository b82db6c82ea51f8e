/**
 * A time to live as both backends can keep it: whole milliseconds, at least one. What has already expired lives for
 * that one millisecond, so a caller who computes `expiresAt - now` needs no special case.
 *
 * @throws RangeError when it is not a finite number: nothing here lives for ever.
 */
export function clampTtl(ttlMs: number): number {
  if (!Number.isFinite(ttlMs)) throw new RangeError(`A time to live must be a finite number of milliseconds: ${ttlMs}`);
  return Math.max(1, Math.ceil(ttlMs));
}
