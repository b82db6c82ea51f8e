import type { Request } from 'express';
import { returnAddress } from './return-address.ts';

/** Where a visitor was going when the sign-in came between: the parameters that every page of it carries along. */
export interface Errand {
  /** The pending authorization request's id (the specification's `authorization_code`). */
  authorization?: string;
  /** Checked against this site. */
  returnTo?: string;
  /** The parameters as given, for links and form actions: `?…` or ''. */
  search: string;
}

const carried = ['client_id', 'redirect_uri', 'authorization_code', 'state', 'redirect', 'forceAuth'] as const;

/** Reads the errand from the query; parameters given twice or overlong are ignored, as they cannot be ours. */
export function errandOf(req: Request, publicUrl: string): Errand {
  const kept = new URLSearchParams();
  for (const name of carried) {
    const value = req.query[name];
    if (typeof value === 'string' && value.length <= 2_000) kept.set(name, value);
  }
  const authorization = kept.get('authorization_code') || undefined;
  const returnTo = returnAddress(kept.get('redirect'), publicUrl);
  return {
    ...(authorization !== undefined && { authorization }),
    ...(returnTo !== undefined && { returnTo }),
    search: kept.size > 0 ? `?${kept}` : '',
  };
}
