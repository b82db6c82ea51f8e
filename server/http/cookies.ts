import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';

/**
 * Cookies of this host alone. With https every name carries `__Host-`, so that no sibling subdomain can plant
 * one (RFC 6265bis, section 4.1.3.2); on plain http (development) the prefix is not allowed.
 */
export interface HostCookies {
  name(base: string): string;
  read(req: Request, base: string): string | undefined;
  /** All cookies whose base name begins with `prefix`, as [base name, value]. */
  readAll(req: Request, prefix: string): [string, string][];
  set(res: Response, base: string, value: string, options?: { maxAgeMs?: number }): void;
  clear(res: Response, base: string): void;
  readonly options: CookieOptions;
}

export function hostCookies(https: boolean): HostCookies {
  const options: CookieOptions = { httpOnly: true, secure: https, sameSite: 'lax', path: '/' };
  const prefix = https ? '__Host-' : '';
  const parse = (req: Request) => parseCookie(req.headers.cookie ?? '');
  const name = (base: string) => `${prefix}${base}`;
  return {
    options,
    name,
    read: (req, base) => parse(req)[name(base)],
    readAll: (req, start) =>
      Object.entries(parse(req)).flatMap(([key, value]): [string, string][] =>
        key.startsWith(name(start)) && value !== undefined ? [[key.slice(prefix.length), value]] : [],
      ),
    set(res, base, value, { maxAgeMs } = {}) {
      res.cookie(name(base), value, maxAgeMs === undefined ? options : { ...options, maxAge: maxAgeMs });
    },
    clear(res, base) {
      res.clearCookie(name(base), options);
    },
  };
}
