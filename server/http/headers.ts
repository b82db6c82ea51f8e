import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import helmet from 'helmet';
import type { HostCookies } from './cookies.ts';
import type { NodeMiddleware } from './direct-dispatcher.ts';
import { keepOpener, toTraits } from './request-traits.ts';

export interface PolicyExtras {
  /** Origins that a form of this page may lead to, beside our own. */
  formAction?: readonly string[];
  /** Origins that images of this page may come from. */
  images?: readonly string[];
  /** Whether this page shows documents of ours in frames; or the origins whose documents it shows. */
  frames?: boolean | readonly string[];
  /** Origins that scripts of this page may come from, beside those with its nonce. */
  scripts?: readonly string[];
  /** Origins that its scripts may call, beside our own. */
  connects?: readonly string[];
}

/** A content security policy that lets nothing run or load but what this page names (CSP level 3). */
export function contentSecurityPolicy(
  nonce: string,
  { formAction = [], images = [], frames = false, scripts = [], connects = [] }: PolicyExtras = {},
): string {
  const framed = typeof frames === 'boolean' ? (frames ? ["'self'"] : []) : frames;
  return [
    "default-src 'none'",
    [`script-src 'nonce-${nonce}'`, ...scripts].join(' '),
    "style-src 'self'",
    "font-src 'self'",
    ["img-src 'self' data:", ...images].join(' '),
    ["connect-src 'self'", ...connects].join(' '),
    ...(framed.length > 0 ? [['frame-src', ...framed].join(' ')] : []),
    ["form-action 'self'", ...formAction].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const nonces = new WeakMap<Response, string>();

/** This answer's nonce for scripts. */
export function getNonce(res: Response): string {
  let nonce = nonces.get(res);
  if (nonce === undefined) {
    nonce = randomBytes(16).toString('base64');
    nonces.set(res, nonce);
  }
  return nonce;
}

/** What helmet writes into every answer. It is always the same, so it is asked once. */
function helmetHeaders(https: boolean): Iterable<[name: string, value: string]> {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  const write = helmet({
    contentSecurityPolicy: false,
    strictTransportSecurity: https ? { maxAge: 63_072_000, includeSubDomains: false } : false,
    // Foyer's own pages must see an Origin on their posts, other sites no address of ours.
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    xXssProtection: false,
  });
  write(answer.req, answer, () => {});
  return Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)]);
}

/**
 * The headers that every answer carries; pages add their content security policy when they are rendered.
 * @param settings.cookies where pending requests are known
 */
export function securityHeaders({ https, cookies }: { https: boolean; cookies?: HostCookies }): NodeMiddleware {
  const headers = new Map([
    ...helmetHeaders(https),
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
    ['Permissions-Policy', 'camera=(), microphone=(), geolocation=(), payment=(), usb=()'],
    ['Cache-Control', 'no-store'],
  ]);
  return (req, res, next) => {
    res.setHeaders(headers);
    if (cookies && toTraits(cookies, req).popup) keepOpener(res);
    next();
  };
}
