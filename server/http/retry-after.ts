import type { Response } from 'express';

/** For Retry-After (RFC 9110, section 10.2.3): whole seconds, at least one. */
export function toRetrySeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

export function setRetryAfter(res: Response, ms: number): void {
  res.setHeader('Retry-After', String(toRetrySeconds(ms)));
}
