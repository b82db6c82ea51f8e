import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseCookie, type SerializeOptions, stringifySetCookie } from 'cookie';
import type { Request, Response } from 'express';

/** A request and its answer, for functions that read and set cookies. */
export interface HttpExchange {
  readonly req: Request;
  readonly res: Response;
}

/** When a cookie ends. Without either the browser deletes it when it is closed. */
export interface CookieLifetime {
  maxAgeMs?: number;
  expires?: Date;
}

/**
 * Cookies of this host alone. With https every name carries `__Host-`, so that no sibling subdomain can plant
 * one (RFC 6265bis, section 4.1.3.2); on plain http (development) the prefix is not allowed.
 */
export interface HostCookies {
  name(base: string): string;
  read(req: IncomingMessage, base: string): string | undefined;
  /** All cookies whose base name starts with `prefix`, as [base name, value]. */
  readAll(req: IncomingMessage, prefix: string): [string, string][];
  set(res: ServerResponse, base: string, cookie: CookieLifetime & { value: string }): void;
  clear(res: ServerResponse, base: string): void;
  readonly options: CookieOptions;
}

type CookieOptions = Required<Pick<SerializeOptions, 'httpOnly' | 'secure' | 'path'>> & {
  sameSite: 'lax';
  domain?: string;
};

export function hostCookies(https: boolean): HostCookies {
  return makeCookies({ httpOnly: true, secure: https, sameSite: 'lax', path: '/' }, https ? '__Host-' : '');
}

/** Cookies that every host of a domain can read and write: their values must never be trusted. */
export function domainCookies(https: boolean, domain: string): HostCookies {
  return makeCookies({ httpOnly: true, secure: https, sameSite: 'lax', path: '/', domain }, '');
}

function makeCookies(options: CookieOptions, prefix: string): HostCookies {
  const parse = (req: IncomingMessage) => parseCookie(req.headers.cookie ?? '');
  const name = (base: string) => `${prefix}${base}`;
  const append = (res: ServerResponse, base: string, cookie: SerializeOptions & { value: string }) => {
    res.appendHeader('Set-Cookie', stringifySetCookie({ name: name(base), ...options, ...cookie }));
  };
  return {
    options,
    name,
    read: (req, base) => parse(req)[name(base)],
    readAll: (req, start) =>
      Object.entries(parse(req)).flatMap(([key, value]): [string, string][] =>
        key.startsWith(name(start)) && value !== undefined ? [[key.slice(prefix.length), value]] : [],
      ),
    set(res, base, { value, maxAgeMs, expires }) {
      // Both attributes, because some browsers support only one of them.
      const lifetime =
        maxAgeMs === undefined
          ? { ...(expires && { expires }) }
          : { maxAge: Math.floor(maxAgeMs / 1000), expires: new Date(Date.now() + maxAgeMs) };
      append(res, base, { value, ...lifetime });
    },
    clear(res, base) {
      append(res, base, { value: '', expires: new Date(1) });
    },
  };
}
