import type Provider from 'oidc-provider';
import { addMiddlewareAt, routes } from './routes-table.ts';

const { authorization, code_verification: device } = routes;

/** @param line a Set-Cookie header whose `expires` is in time of this machine */
function withMaxAge(line: string, nowMs: number): string {
  const expires = /;\s*expires=([^;]+)/i.exec(line)?.[1];
  if (expires === undefined || /;\s*max-age=/i.test(line)) return line;
  const seconds = Math.ceil((Date.parse(expires) - nowMs) / 1000);
  return seconds > 0 ? `${line}; max-age=${seconds}` : line;
}

/**
 * The library's cookies only have a date, which a browser compares with its own clock: one that is an hour ahead of
 * Foyer's would forget a request at once. `Max-Age` replaces it (RFC 6265, section 4.1.2.2).
 */
export function giveCookiesMaxAge(provider: Provider): void {
  addMiddlewareAt(provider, [authorization, `${authorization}/`, device, `${device}/`], async ({ res }, next) => {
    await next();
    const lines = res.getHeader('Set-Cookie');
    // Foyer's own pages of errors are sent by now.
    if (res.headersSent || !Array.isArray(lines)) return;
    const nowMs = Date.now();
    res.setHeader(
      'Set-Cookie',
      lines.map((line) => withMaxAge(line, nowMs)),
    );
  });
}
