import { randomBytes } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Response } from 'express';
import helmet from 'helmet';
import type { HostCookies } from './cookies.ts';
import type { NodeMiddleware } from './direct-dispatcher.ts';
import { keepOpener, toTraits } from './request-traits.ts';

export interface PolicyExtras {
  /** Origins to which forms of this page may lead, in addition to Foyer's own. */
  formAction?: readonly string[];
  /** Origins of images on this page. */
  images?: readonly string[];
  /** true: this page shows Foyer's own documents in frames. A list: the origins of framed documents. */
  frames?: boolean | readonly string[];
  /** Origins of scripts of this page, in addition to scripts with its nonce. */
  scripts?: readonly string[];
  /** Origins that the page's scripts may call, in addition to Foyer's own. */
  connects?: readonly string[];
  /** Origins of frames that may ask for a payment (Payment Request, Secure Payment Confirmation), besides this one. */
  payments?: readonly string[];
}

/** The powerful features that a page may use; none, except payments on pages with a card form. */
export function permissionsPolicy({ payments = [] }: Pick<PolicyExtras, 'payments'> = {}): string {
  const allowed = payments.length > 0 ? ['self', ...payments.map((origin) => `"${origin}"`)] : [];
  return `camera=(), microphone=(), geolocation=(), payment=(${allowed.join(' ')}), usb=()`;
}

/**
 * A content security policy that allows only the sources that this page names (CSP level 3).
 * @param nonce of the page's scripts; undefined: it has none
 */
export function contentSecurityPolicy(
  nonce: string | undefined,
  { formAction = [], images = [], frames = false, scripts = [], connects = [] }: PolicyExtras = {},
): string {
  const framed = typeof frames === 'boolean' ? (frames ? ["'self'"] : []) : frames;
  return [
    "default-src 'none'",
    nonce === undefined ? "script-src 'none'" : [`script-src 'nonce-${nonce}'`, ...scripts].join(' '),
    "style-src 'self'",
    "font-src 'self'",
    ["img-src 'self' data:", ...images].join(' '),
    ["connect-src 'self'", ...connects].join(' '),
    "manifest-src 'self'",
    ...(framed.length > 0 ? [['frame-src', ...framed].join(' ')] : []),
    ["form-action 'self'", ...formAction].join(' '),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

const nonces = new WeakMap<Response, string>();

/** The nonce for scripts of this answer. */
export function getNonce(res: Response): string {
  let nonce = nonces.get(res);
  if (nonce === undefined) {
    nonce = randomBytes(16).toString('base64');
    nonces.set(res, nonce);
  }
  return nonce;
}

/** The headers that helmet writes into every answer. They are constant, so helmet runs once. */
function helmetHeaders(https: boolean): Iterable<[name: string, value: string]> {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  const write = helmet({
    contentSecurityPolicy: false,
    strictTransportSecurity: https ? { maxAge: 63_072_000, includeSubDomains: false } : false,
    // Foyer needs an Origin header on its own posts, and other sites must not learn its addresses.
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    xXssProtection: false,
  });
  write(answer.req, answer, () => {});
  return Object.entries(answer.getHeaders()).map(([name, value]) => [name, String(value)]);
}

/** The headers of every answer; pages add their content security policy when they are rendered. */
export const commonHeaders = (https: boolean): Map<string, string> =>
  new Map([
    ...helmetHeaders(https),
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"],
    ['Permissions-Policy', permissionsPolicy()],
    ['Cache-Control', 'no-store'],
  ]);

/** @param settings.cookies the cookies that identify pending requests */
export function securityHeaders({ https, cookies }: { https: boolean; cookies?: HostCookies }): NodeMiddleware {
  const headers = commonHeaders(https);
  return (req, res, next) => {
    res.setHeaders(headers);
    if (cookies && toTraits(cookies, req).popup) keepOpener(res);
    next();
  };
}
